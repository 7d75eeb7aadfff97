import Foundation

/// What a build prints for a driver that measures it in turns with another one: a line for each figure.
package enum Turn {
    /// A line.
    private struct Line: Codable {
        /// Builds whose numbers differ do not understand each other.
        static let format = 1

        var format = Self.format
        var row: String
        var figure: Double
    }

    /// A line that a build printed and that is no figure.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    /// The line of a figure.
    package static func line(_ figure: Double, of row: RowIdentifier) throws -> String {
        String(decoding: try JSONEncoder().encode(Line(row: row.rawValue, figure: figure)), as: UTF8.self)
    }

    /// The figures of a build's output; rows that this build does not know are left out.
    package static func figures(of output: String) throws -> [RowIdentifier: Double] {
        var figures: [RowIdentifier: Double] = [:]
        for text in output.split(whereSeparator: \.isNewline) {
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(text.utf8)), line.format == Line.format
            else { throw Failure(description: "\"\(text)\" is not a figure of format \(Line.format).") }
            if let row = RowIdentifier(rawValue: line.row) { figures[row] = line.figure }
        }
        return figures
    }
}
