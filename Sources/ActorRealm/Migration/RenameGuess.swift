import RealmModel
import RealmStorage

/// Guesses which properties of a class have another name only, by their types and by some of their values.
///
/// A new property can be an old one where the types are equal, but for nil, and where each value that was looked at can stand in
/// the new one: as a case of its enum, and once where it is unique. Where several fit, the one whose name has most in common, and
/// names that have nothing in common need another sign: that the values are cases of an enum, or that no other property of the
/// type comes or goes.
struct RenameGuess {
    /// The number of values that are looked at.
    private static let valueLimit = 1_000

    private let table: TableView
    private let old: ClassSchema
    private let info: ModelClass?
    private let removed: [PropertySchema]
    private let added: [PropertySchema]

    init(_ table: TableView, _ old: ClassSchema, _ new: ClassSchema, _ info: ModelClass?, _ steps: [SchemaPlan.Step]) {
        self.table = table
        self.old = old
        self.info = info
        removed = steps.compactMap { if case .removeProperty(_, let name) = $0 { old[name] } else { nil } }
        added = steps.compactMap {
            guard case .addProperty(_, let property) = $0, property.isStored, var declared = new[property.name] else {
                return nil
            }
            // What the file calls the class, as in what is removed.
            declared.targetClass = property.targetClass
            return declared
        }
    }

    /// The new names by the old ones.
    func guesses() throws -> [String: String] {
        var candidates: [(old: String, new: String, likeness: Double)] = []
        for before in removed {
            let fitting = added.filter { before.isStored && before.hasType(of: $0) }
            if fitting.isEmpty { continue }
            let values = try sample(of: before)
            let isAlone = fitting.count == 1 && removed.count { $0.hasType(of: fitting[0]) } == 1
            for after in fitting where fits(values, after) {
                var likeness = Self.likeness(before.name, after.name)
                if isEnum(after), values.contains(where: { !$0.isNull }) { likeness += 1 }
                if likeness > 0 || isAlone { candidates.append((before.name, after.name, likeness)) }
            }
        }
        candidates.sort { ($1.likeness, $0.old, $0.new) < ($0.likeness, $1.old, $1.new) }
        var guesses: [String: String] = [:]
        for candidate in candidates
        where guesses[candidate.old] == nil && !guesses.values.contains(candidate.new) {
            guesses[candidate.old] = candidate.new
        }
        return guesses
    }

    /// Some values of a property of the file; none for a collection.
    private func sample(of property: PropertySchema) throws -> [StoredValue] {
        guard property.collection == .none, let ordinal = old.ordinal(of: property.name) else { return [] }
        var values: [StoredValue] = []
        var cursor = table.leaves()
        while values.count < Self.valueLimit, let leaf = try cursor.next() {
            for row in 0..<min(leaf.rowCount, Self.valueLimit - values.count) {
                values.append(try table.value(ordinal, at: RowLocation(leaf: leaf, row: row)))
            }
        }
        return values
    }

    private func fits(_ values: [StoredValue], _ property: PropertySchema) -> Bool {
        let given = values.filter { !$0.isNull }
        if property.isUnique || property.isPrimaryKey, Set(given).count < given.count { return false }
        guard let type = info?.property(columnNamed: property.name)?.valueType, property.collection == .none else {
            return true
        }
        return given.allSatisfy { Self.isCase($0, of: type) }
    }

    private func isEnum(_ property: PropertySchema) -> Bool {
        info?.property(columnNamed: property.name)?.valueType is any PersistableEnum.Type
    }

    /// Whether a value can be read as a type; only those of enums have values that cannot.
    private static func isCase(_ value: StoredValue, of type: any _Persistable.Type) -> Bool {
        switch value {
        case .int(let number): type.fits(Int(number))
        case .string(let text): type.fits(text)
        case .double(let number): type.fits(number)
        case .float(let number): type.fits(number)
        default: true
        }
    }

    /// How much two names have in common: the share of the pairs of letters.
    static func likeness(_ one: String, _ other: String) -> Double {
        func pairs(_ name: String) -> [[Character]] {
            let letters = Array(name.lowercased())
            return letters.indices.dropLast().map { [letters[$0], letters[$0 + 1]] }
        }
        let first = pairs(one)
        var rest = pairs(other)
        let total = first.count + rest.count
        if total == 0 { return one.lowercased() == other.lowercased() ? 1 : 0 }
        var common = 0
        for pair in first {
            guard let index = rest.firstIndex(of: pair) else { continue }
            rest.remove(at: index)
            common += 1
        }
        return Double(2 * common) / Double(total)
    }
}

extension _Persistable {
    /// Whether a dynamically typed value can be one of this type.
    fileprivate static func fits(_ value: Any) -> Bool {
        if case .some = _unboxed(value) { return true }
        return false
    }
}
