import RealmModel

/// Follows what a migration block does with the values that the new classes have no place for, and counts those that are lost.
///
/// A property that goes counts as looked at once the block has read it of an old object, whatever it made of that. A property
/// that changes its type needs more: each object that had a value has to be written to.
final class LossFinder {
    /// A property by the names of the file.
    struct Name: Hashable {
        let className: String
        let property: String
    }

    private let stored: DatabaseSchema
    private let declared: DatabaseSchema
    /// The properties that change their type.
    private var retyped: [Name: WrittenRows] = [:]
    private var discarded: Set<Name> = []
    /// What renamed properties have become: the old names by the new ones.
    private var renamed: [Name: String] = [:]
    /// What a renamed property has taken the place of, with the number of objects that had a value there.
    private var overwritten: [Name: Int] = [:]
    /// The properties that were read of old objects.
    private var lookedAt: Set<ObjectIdentifier> = []
    @exclusivity(unchecked) private var lookedAtLast: ObjectIdentifier?
    /// The properties that change their type, by what they were written through; nil for all others.
    private var namesWritten: [ObjectIdentifier: Name?] = [:]

    init(from stored: DatabaseSchema, to declared: DatabaseSchema) {
        self.stored = stored
        self.declared = declared
        for schema in declared.list {
            guard let old = stored[schema.name] else { continue }
            for property in old.properties where property.isStored {
                guard let new = schema[property.name], new.isStored, !property.hasType(of: new, stored.name(of:)) else {
                    continue
                }
                retyped[Name(className: schema.name, property: property.name)] = WrittenRows()
            }
        }
    }

    // MARK: What the block does

    /// Notes that a property of an old object was read.
    func looked(at property: ModelProperty) {
        let identifier = ObjectIdentifier(property)
        if lookedAtLast == identifier { return }
        lookedAtLast = identifier
        lookedAt.insert(identifier)
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

    /// How many objects have values that go where a property gets the name of another one.
    func countOverwritten(_ name: Name, in new: RealmCore) throws -> Int {
        // Values of another type are gone already, and what was added has defaults only.
        let isStored = stored[name.className]?[name.property]?.isStored == true && retyped[name] == nil
        return isStored || renamed[name] != nil ? try remainingCount(name, new) : 0
    }

    /// Notes that a property got another name, in the place of values of `count` objects.
    func rename(_ className: String, from old: String, to new: String, over count: Int) {
        let name = Name(className: className, property: new)
        // What was renamed to it before is lost as that.
        let replaced = renamed[name].map { Name(className: className, property: $0) } ?? name
        if count > 0 { overwritten[replaced, default: 0] += count }
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
                let count: Int
                switch fate {
                case .replaced(let known): count = isLookedAt(name, old) ? 0 : known
                case .removed: count = isLookedAt(name, old) ? 0 : try remainingCount(name, new)
                case .cleared: count = isLookedAt(name, old) ? 0 : try unwrittenCount(name, WrittenRows(), old, new)
                case .retyped(let written):
                    newType = schema[property.name]?.typeDescription
                    count = try unwrittenCount(name, written, old, new)
                }
                if count == 0 { continue }
                losses.append(
                    MigrationLoss(
                        className: schema.name,
                        propertyName: property.name,
                        oldType: property.typeDescription,
                        newType: newType,
                        count: count
                    )
                )
            }
        }
        return losses
    }

    /// What becomes of the values of a property that are not kept.
    private enum Fate {
        /// A renamed property has taken their place.
        case replaced(count: Int)
        /// They go with the end of the block.
        case removed
        /// They went before the block, and nothing can take their place.
        case cleared
        /// They went before the block, which may have written others.
        case retyped(WrittenRows)
    }

    /// What becomes of the values of a property; nil when they are kept.
    private func fate(of name: Name) -> Fate? {
        if let count = overwritten[name] { return .replaced(count: count) }
        if renamed.contains(where: { $0.key.className == name.className && $0.value == name.property }) { return nil }
        guard let new = declared[name.className]?[name.property] else { return .removed }
        if !new.isStored { return .cleared }
        return retyped[name].map { renamed[name] == nil ? .retyped($0) : .cleared }
    }

    private func isLookedAt(_ name: Name, _ old: RealmCore) -> Bool {
        guard !lookedAt.isEmpty, let accessor = old.registry.dynamicAccessor(className: name.className),
            let property = accessor.info.property(columnNamed: name.property)
        else { return false }
        return lookedAt.contains(ObjectIdentifier(property))
    }

    /// How many objects have a value of a property that goes with the end of the block.
    private func remainingCount(_ name: Name, _ new: RealmCore) throws -> Int {
        guard let table = try new.model.table(named: name.className),
            let ordinal = table.schema.ordinal(of: name.property)
        else { return 0 }
        return try table.valueCount(of: ordinal)
    }

    /// How many objects had a value, are there still, and were not written to.
    private func unwrittenCount(_ name: Name, _ written: WrittenRows, _ old: RealmCore, _ new: RealmCore) throws -> Int
    {
        guard let before = try old.model.table(named: name.className),
            let after = try new.model.table(named: name.className),
            let ordinal = before.schema.ordinal(of: name.property)
        else { return 0 }
        var count = 0
        try before.forEachValue(of: ordinal) { key in
            if written.contains(key) { return }
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
