package import RealmStorage

/// One class: as declared, or (with `tableID` and `columnLayouts` set) as a file stores it.
///
/// A property's *ordinal* is its position in `properties`. The ordinals of the stored class are what every operation of
/// `TableView` takes and what the `ColumnSet` of a change set holds. Properties that are added later go to the end, so
/// an ordinal stays what it is until a migration removes a property that stands before it.
package struct ClassSchema: Sendable, Equatable {
    package let name: String
    /// The name that stands in the file, where it is another one than the program's.
    package internal(set) var storedName: String?
    /// Whether the file says that `name` is what programs call the class that it stores as `storedName`.
    package internal(set) var isNameRecorded = false
    /// Under what names a file may have the class that was written before its name told what it is nested in, longest first.
    package let formerNames: [String]
    package let properties: [PropertySchema]
    package let isEmbedded: Bool
    /// The indexes over several properties.
    package let compoundIndexes: [CompoundIndexSchema]
    /// The number under which a file knows the class, never reused; 0 while not stored.
    package internal(set) var tableID: UInt32
    /// The physical columns of the table, those of removed properties included.
    package internal(set) var columnLayouts: [ColumnLayout]
    /// How long strings stand in the indexes of the table.
    var longStrings = LongStringKeys()
    /// The number of indexes of kinds that this release does not know: it can read the rows.
    var furtherIndexCount = 0
    /// The ordinal of the primary key.
    package let primaryKeyOrdinal: Int?
    private let ordinals: [String: Int]

    package init(
        name: String,
        properties: [PropertySchema],
        compoundIndexes: [CompoundIndexSchema] = [],
        isEmbedded: Bool = false,
        formerNames: [String] = []
    ) {
        self.name = name
        self.formerNames = formerNames
        self.properties = properties
        self.compoundIndexes = compoundIndexes
        self.isEmbedded = isEmbedded
        tableID = 0
        columnLayouts = []
        primaryKeyOrdinal = properties.firstIndex { $0.isPrimaryKey }
        ordinals = Dictionary(
            properties.enumerated().map { ($0.element.name, $0.offset) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    package var primaryKey: PropertySchema? { primaryKeyOrdinal.map { properties[$0] } }

    /// Throws when writing would lose indexes of kinds that this release does not know.
    ///
    /// A file that says that it has such ones is opened for reading only; this is for one that does not.
    func requireKnownIndexes() throws(StorageError) {
        guard furtherIndexCount > 0 else { return }
        throw StorageError(
            .unsupportedFormat,
            "Class '\(name)' has an index of a kind that this version of the library does not know, and would damage by writing: open the "
                + "file for reading only, or with the version that wrote it"
        )
    }

    /// Whether a rule, alone or together with other properties, lets no two rows have the same value of a property.
    package func isUnique(_ property: PropertySchema) -> Bool {
        property.hasUniqueIndex || compoundIndexes.contains { $0.isUnique && $0.properties.contains(property.name) }
    }

    /// The position of a property, by name.
    package func ordinal(of name: String) -> Int? { ordinals[name] }

    /// The positions of the properties of a compound index.
    package func ordinals(of index: CompoundIndexSchema) -> [Int] { index.properties.compactMap { ordinals[$0] } }

    /// Whether a reader has to know unique properties, compound indexes or delete rules to keep to what the class says.
    var hasRules: Bool {
        !compoundIndexes.isEmpty || properties.contains { $0.isUnique || $0.deleteRule != .nullify }
    }

    /// A property, by name.
    package subscript(name: String) -> PropertySchema? { ordinals[name].map { properties[$0] } }
}
