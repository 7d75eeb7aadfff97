import RealmModel

/// Follows what a migration block does with the values that the new classes have no place for, and counts those that are lost.
///
/// A value of a property that goes counts as looked at once the block has read it of its old object, whatever it made of that. A
/// property that changes its type needs more: each object that had a value has to be written to.
final class LossFinder {
    /// A property by the names of the file.
    struct Name: Hashable {
        let className: String
        let property: String
    }

    private let stored: DatabaseSchema
    private let declared: DatabaseSchema
    /// The properties that change their type.
    private var retyped: [Name: NotedRows] = [:]
    private var discarded: Set<Name> = []
    /// What renamed properties have become: the old names by the new ones.
    private var renamed: [Name: String] = [:]
    /// The properties of the file that renamed ones have taken the place of.
    private var overwritten: Set<Name> = []
    /// The properties of which reads are of interest: they go, or one that goes has their type and may take their name.
    private(set) var followed: [Name] = []
    /// The old objects of which such a property was read.
    private var lookedAt: [ObjectIdentifier: NotedRows] = [:]
    /// The properties that change their type, by what they were written through; nil for all others.
    private var namesWritten: [ObjectIdentifier: Name?] = [:]

    init(from stored: DatabaseSchema, to declared: DatabaseSchema) {
        self.stored = stored
        self.declared = declared
        for schema in declared.list {
            guard let old = stored[schema.name] else { continue }
            let going = old.properties.filter { $0.isStored && schema[$0.name]?.isStored != true }
            for property in old.properties where property.isStored {
                let name = Name(className: schema.name, property: property.name)
                guard let new = schema[property.name], new.isStored else {
                    followed.append(name)
                    continue
                }
                if going.contains(where: { $0.hasType(of: new, stored.name(of:)) }) { followed.append(name) }
                if property.hasType(of: new, stored.name(of:)) { continue }
                retyped[name] = NotedRows()
            }
        }
    }

    /// Follows the reads of old objects.
    ///
    /// The old realm has to know its migration, so that a class which cannot be read is kept as its mistake.
    func follow(_ old: RealmCore) {
        for name in followed {
            let info = old.registry.dynamicAccessor(className: name.className)?.info
            guard let property = info?.property(columnNamed: name.property) else { continue }
            lookedAt[ObjectIdentifier(property)] = NotedRows()
        }
    }

    // MARK: What the block does

    /// Notes that a property of an old object was read.
    func looked(at property: ModelProperty, ofRow key: Int64) {
        if !lookedAt.isEmpty { lookedAt[ObjectIdentifier(property)]?.insert(key) }
    }

    /// Notes that a property of a new object was written.
    func wrote(_ property: ModelProperty, ofRow key: Int64, _ className: String) {
        if retyped.isEmpty { return }
        let identifier = ObjectIdentifier(property)
        let known = namesWritten[identifier]
        let name: Name?
        if let known {
            name = known
        } else {
            let candidate = Name(className: className, property: property.columnName)
            name = retyped[candidate] == nil ? nil : candidate
            namesWritten[identifier] = .some(name)
        }
        if let name { retyped[name]?.insert(key) }
    }

    func discard(_ name: Name) { discarded.insert(name) }

    /// Notes that a property got another name.
    func rename(_ className: String, from old: String, to new: String) {
        let name = Name(className: className, property: new)
        // What was renamed to it before is lost as that. What was added has no values of the file.
        let replaced = renamed[name].map { Name(className: className, property: $0) } ?? name
        if stored[className]?[replaced.property]?.isStored == true { overwritten.insert(replaced) }
        renamed[name] = old
    }

    // MARK: What is lost

    /// Counts what is lost, at the end of the block and before the old properties go.
    ///
    /// - Returns: The losses in the order of the program's classes.
    func losses(from old: RealmCore, to new: RealmCore) throws -> [MigrationLoss] {
        var losses: [MigrationLoss] = []
        for schema in declared.list {
            guard let before = stored[schema.name] else { continue }
            for property in before.properties where property.isStored {
                let name = Name(className: schema.name, property: property.name)
                guard !discarded.contains(name), let fate = fate(of: name) else { continue }
                var newType: String?
                var read = NotedRows()
                let count: Int
                switch fate {
                case .removed:
                    read = rowsRead(name, old)
                    count = try remainingCount(name, without: read, old, new)
                case .cleared:
                    read = rowsRead(name, old)
                    count = try clearedCount(name, without: read, old, new)
                case .retyped(let written):
                    newType = schema[property.name]?.typeDescription
                    count = try clearedCount(name, without: written, old, new)
                }
                if count == 0 { continue }
                losses.append(
                    MigrationLoss(
                        className: schema.name,
                        propertyName: property.name,
                        oldType: property.typeDescription,
                        newType: newType,
                        count: count,
                        isPartlyRead: !read.isEmpty
                    )
                )
            }
        }
        return losses
    }

    /// What becomes of the values of a property that are not kept.
    private enum Fate {
        /// They go with the end of the block.
        case removed
        /// They are in the old objects only, and nothing that the block writes can take their place.
        case cleared
        /// They went before the block, which may have written others.
        case retyped(NotedRows)
    }

    /// What becomes of the values of a property; nil when they are kept.
    private func fate(of name: Name) -> Fate? {
        if overwritten.contains(name) { return .cleared }
        if renamed.contains(where: { $0.key.className == name.className && $0.value == name.property }) { return nil }
        guard let new = declared[name.className]?[name.property] else { return .removed }
        if !new.isStored { return .cleared }
        return retyped[name].map { renamed[name] == nil ? .retyped($0) : .cleared }
    }

    /// The old objects of which the block has read a property.
    private func rowsRead(_ name: Name, _ old: RealmCore) -> NotedRows {
        guard !lookedAt.isEmpty, let accessor = old.registry.dynamicAccessor(className: name.className),
            let property = accessor.info.property(columnNamed: name.property)
        else { return NotedRows() }
        return lookedAt[ObjectIdentifier(property)] ?? NotedRows()
    }

    /// Calls a function with each object that has a value of a property of the file now.
    private func forEachRemaining(_ name: Name, _ new: RealmCore, _ body: (Int64) -> Void) throws {
        guard let table = try new.model.table(named: name.className),
            let ordinal = table.schema.ordinal(of: name.property)
        else { return }
        try table.forEachValue(of: ordinal, body)
    }

    /// How many objects have a value that goes with the end of the block, but those that the block has read or made.
    private func remainingCount(
        _ name: Name,
        without read: NotedRows,
        _ old: RealmCore,
        _ new: RealmCore
    ) throws -> Int {
        guard let before = try old.model.table(named: name.className) else { return 0 }
        let end = before.nextKey
        let isUnread = read.isEmpty
        var count = 0
        try forEachRemaining(name, new) { key in
            if key < end, isUnread || !read.contains(key) { count += 1 }
        }
        return count
    }

    /// How many objects had a value that only the old ones have now, are there still, and are none of those that the block has read or
    /// written.
    private func clearedCount(
        _ name: Name,
        without noted: NotedRows,
        _ old: RealmCore,
        _ new: RealmCore
    ) throws -> Int {
        guard let before = try old.model.table(named: name.className),
            let after = try new.model.table(named: name.className),
            let ordinal = before.schema.ordinal(of: name.property)
        else { return 0 }
        var count = 0
        try before.forEachValue(of: ordinal) { key in
            if noted.contains(key) { return }
            if try after.contains(key: key) { count += 1 }
        }
        return count
    }
}

extension SchemaPlan {
    /// Whether values may be dropped, so that somebody has to count them.
    var dropsValues: Bool {
        steps.contains { step in
            switch step {
            case .removeProperty, .replaceProperty(_, _, false): true
            default: false
            }
        }
    }
}
