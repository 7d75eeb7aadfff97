/// The options of the command line, each with a value.
package struct Options {
    /// An argument that is not understood.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String

        package init(description: String) {
            self.description = description
        }
    }

    private static let names: Set<String> = [
        "--rows", "--heavy", "--only", "--objects", "--rounds", "--folder", "--json", "--readme", "--from", "--origin",
        "--growth", "--against", "--turn", "--block", "--log-setting",
    ]
    private var values: [String: String] = [:]

    package init(_ arguments: [String]) throws {
        var remaining = arguments[...]
        while let name = remaining.popFirst() {
            guard Self.names.contains(name), let value = remaining.popFirst() else {
                throw Failure(description: "\(name) is not an option, or lacks its value.")
            }
            values[name] = value
        }
    }

    package subscript(name: String) -> String? { values[name] }

    /// A number of at least one; nil where the option is not there.
    package func number(_ name: String) throws -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), number > 0 else {
            throw Failure(description: "\(name) takes a number above zero, not \(text).")
        }
        return number
    }

    /// The rows that are to be measured.
    package func rows() throws -> [RowIdentifier] {
        let rows = RowIdentifier.rows(named: values["--rows"], heavy: values["--heavy"] != nil)
        guard !rows.isEmpty else { throw Failure(description: "--rows \(values["--rows"] ?? "") names no row.") }
        return rows
    }
}
