import RealmModel

/// Where the file keeps the declared properties of a class, by name.
struct PropertyMap {
    /// The ordinals of the stored class, by declared ordinal.
    var ordinals: [Int]
    /// Says of which schema the ordinals are: how many the realm has seen by then.
    ///
    /// The stamp of the schema itself is the same for all changes of one migration.
    private(set) var stamp: UInt64
    /// The ordinals in earlier schemas, by stamp: what was made with them finds its properties again.
    private var earlier: [UInt64: [Int]] = [:]

    init(_ info: ModelClass, in table: TableView, stamp: UInt64) {
        ordinals = Self.ordinals(of: info, in: table)
        self.stamp = stamp
    }

    /// Follows a change of the table's schema.
    mutating func follow(_ info: ModelClass, in table: TableView, stamp: UInt64) {
        // A class that a migration removed, or that is not there before a transaction, has no rows to read.
        if table.model.schema[info.name] != nil {
            earlier[self.stamp] = ordinals
            ordinals = Self.ordinals(of: info, in: table)
        }
        self.stamp = stamp
    }

    /// The ordinal of a property that the class declares, given by that in the schema with a stamp.
    func ordinal(of property: Int, mappedAt stamp: UInt64) -> Int {
        guard let declared = earlier[stamp]?.firstIndex(of: property) else { return property }
        return ordinals[declared]
    }

    /// The stored properties that no class of the program declares, with what new rows get in them.
    ///
    /// Where rows must differ null stays, of which there may be any number.
    func undeclaredDefaults(of info: ModelClass, in table: TableView) -> [(ordinal: Int, value: StoredValue)] {
        let schema = table.schema
        // As a rule the class declares all of them.
        if schema.properties.count == ordinals.count, !info.isDynamic { return [] }
        let declared = info.isDynamic ? [] : Set(ordinals)
        return schema.properties.enumerated()
            .compactMap { ordinal, property in
                guard !declared.contains(ordinal), let value = property.recordedDefault.value,
                    !property.isOptional || !schema.isUnique(property)
                else { return nil }
                return (ordinal, value)
            }
    }

    private static func ordinals(of info: ModelClass, in table: TableView) -> [Int] {
        let stored = table.schema
        return info.properties.enumerated()
            .map { declared, property in
                // As a rule it stands where it is declared, which costs no look-up.
                if declared < stored.properties.count, stored.properties[declared].name == property.columnName {
                    return declared
                }
                guard let ordinal = stored.ordinal(of: property.columnName) else {
                    misuse(
                        "Property '\(info.name).\(property.name)' is not in the file's schema. Open the realm with a "
                            + "configuration whose schema contains it."
                    )
                }
                return ordinal
            }
    }
}
