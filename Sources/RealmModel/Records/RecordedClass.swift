import RealmStorage

/// What the record of a schema says of one class.
struct RecordedClass {
    let tableID: UInt32
    /// The class; nil where it is as it was.
    let schema: ClassSchema?
    private(set) var nextKey: Int64 = 0
    private(set) var rowCount = 0
    private(set) var inserted: [Range<Int64>] = []

    init(from reader: inout RecordReader) throws(StorageError) {
        guard let id = UInt32(exactly: try reader.number()) else {
            throw RecordReader.damaged("a table's number is too large.")
        }
        tableID = id
        switch try reader.byte() {
        case 0: schema = nil
        case 1:
            schema = try ClassSchema(tableID: id, load: try reader.counted())
            nextKey = try reader.key()
            rowCount = try reader.index()
            inserted = try reader.runs()
            guard inserted.last.map({ $0.upperBound <= nextKey }) ?? true else {
                throw RecordReader.damaged("a row's key is above the next one.")
            }
        default: throw RecordReader.damaged("a class has an unknown form.")
        }
    }

    /// Writes the entry of a table without rows.
    func makeTable(
        _ schema: ClassSchema,
        in database: DatabaseSchema,
        _ transaction: WriteTransaction
    ) throws(StorageError) {
        let slots = schema.properties.map { PropertySlot($0, tree: 0, in: database, schema.longStrings) }
        let (tags, _) = schema.treeSources(slots: slots)
        let bytes = TableEntry.bytes(clusters: ClusterTree(), trees: tags.map { ($0, .none) })
        try CatalogKey.store(bytes, CatalogKey.table, tableID, in: transaction)
    }
}

extension ClassSchema {
    /// The bytes of the bits that say which columns of a new row a record has values of.
    ///
    /// Never none: a row of a class without columns would take no bytes, and a short record could ask for any number of them.
    var recordedMaskByteCount: Int { max(1, (columnLayouts.count + 7) / 8) }
}
