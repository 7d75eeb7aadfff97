import RealmModel

/// Where the file keeps the declared properties of a class, by name.
struct PropertyMap {
    /// The ordinals of the stored class, by declared ordinal.
    private(set) var ordinals: [Int]
    /// The schema of which the ordinals are.
    private(set) var stamp: UInt64
    /// The ordinals in earlier schemas, by stamp: what was made with them finds its properties again.
    private var earlier: [UInt64: [Int]] = [:]

    init(_ info: ModelClass, in table: TableView) {
        ordinals = Self.ordinals(of: info, in: table)
        stamp = table.model.schemaStamp
    }

    /// Follows a change of the table's schema.
    mutating func follow(_ info: ModelClass, in table: TableView) {
        // A class that a migration removed, or that is not there before a transaction, has no rows to read.
        if table.model.schema[info.name] != nil {
            earlier[stamp] = ordinals
            ordinals = Self.ordinals(of: info, in: table)
        }
        stamp = table.model.schemaStamp
    }

    /// The ordinal of a property, given by that in the schema with a stamp.
    func ordinal(of property: Int, mappedAt stamp: UInt64) -> Int {
        guard let declared = earlier[stamp]?.firstIndex(of: property) else { return property }
        return ordinals[declared]
    }

    private static func ordinals(of info: ModelClass, in table: TableView) -> [Int] {
        info.properties.map { property in
            guard let ordinal = table.schema.ordinal(of: property.columnName) else {
                misuse(
                    "Property '\(info.name).\(property.name)' is not in the file's schema. Open the realm with a "
                        + "configuration whose schema contains it."
                )
            }
            return ordinal
        }
    }
}
