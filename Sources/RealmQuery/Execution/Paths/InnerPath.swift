import RealmModel
import RealmStorage

/// Steps into the lists and dictionaries in values of any kind.
final class InnerPath {
    private let base: PathTerminal
    private let steps: [PropertyPath.Step]
    /// Whether there may be more or fewer than one value.
    let isMany: Bool

    init(_ base: PathTerminal, steps: [PropertyPath.Step]) {
        self.base = base
        self.steps = steps
        var isMany = steps.contains(.anyElement)
        if case .elements = base { isMany = true }
        self.isMany = isMany
    }

    /// Calls a function with each value that the steps lead to; false when it wants no more.
    func forEach(
        _ location: RowLocation,
        key: Int64,
        _ body: (BorrowedValue) throws -> Bool
    ) throws -> Bool {
        switch base {
        case .value(let table, let property, _):
            return try descend(table.value(property, at: location), steps[...], body)
        case .elements(let table, let property):
            return try table.forEachElement(property, at: location, key: key) { value in
                try descend(StoredValue(value, kind: .any), steps[...], body)
            }
        case .entry(let table, let property, let name):
            let value = try table.map(property, at: location, key: key).value(for: name)
            return try descend(value ?? .null, steps[...], body)
        default: return true
        }
    }

    private func descend(
        _ value: StoredValue,
        _ steps: ArraySlice<PropertyPath.Step>,
        _ body: (BorrowedValue) throws -> Bool
    ) throws -> Bool {
        guard let step = steps.first else { return try value.withBorrowed(for: .any, body) }
        let rest = steps.dropFirst()
        switch (step, value) {
        case (.key(let name), .dictionary(let entries)):
            if let entry = entries.first(where: { TextBytes.areEqual($0.key, name) }) {
                return try descend(entry.value, rest, body)
            }
        case (.index(let index), .list(let values)):
            if values.indices.contains(index) { return try descend(values[index], rest, body) }
        case (.anyElement, .list(let values)):
            for value in values { guard try descend(value, rest, body) else { return false } }
        case (.anyElement, .dictionary(let entries)):
            for entry in entries { guard try descend(entry.value, rest, body) else { return false } }
        default: break
        }
        // A path of one value that leads nowhere gives null.
        return isMany ? true : try body(.null)
    }
}
