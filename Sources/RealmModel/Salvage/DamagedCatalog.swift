import OrderedCollections
import RealmStorage

/// What the catalogs of a damaged file say, the best version's first: an entry that cannot be read in one is looked for in
/// the other.
struct DamagedCatalog {
    struct Table {
        /// As the file stores it.
        var schema: ClassSchema
        var slots: [PropertySlot]
        /// Nil when the table's entry is lost.
        var clusters: ClusterTree?
        /// The roots of its indexes and backlinks.
        var trees: [PageReference]
        var lostProperties: [String]
    }

    private(set) var tables: [Table] = []
    private(set) var damagedPages: Set<PageNumber> = []
    private(set) var namelessTables: [UInt32] = []
    private var version: UInt64 = 0

    /// - Parameters:
    ///   - file: The file.
    ///   - replayed: The version that its log makes, which comes before all that stand in the file.
    /// - Throws: `corrupt` when the catalogs can be read so little that no class is found.
    init(of file: DamagedFile, behind replayed: DamagedFile.Root?) throws(StorageError) {
        var classes: [UInt32: ClassSchema] = [:]
        var entries: [UInt32: [UInt8]] = [:]
        var database: UInt64?
        var isDamaged = true
        for root in (replayed.map { [$0] } ?? []) + file.roots where isDamaged {
            isDamaged = false
            root.catalog.salvage(in: file.view) { key, value in
                guard let value, let kind = key.first else {
                    isDamaged = true
                    return
                }
                let id = key.withUnsafeBytes { FileCompactor.tableID(of: $0) }
                switch kind {
                case CatalogKey.database where value.count >= 16 && database == nil:
                    database = UInt64(littleEndian: value.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                case CatalogKey.classSchema where id != 0 && classes[id] == nil:
                    classes[id] = try? ClassSchema(tableID: id, load: value)
                case CatalogKey.table where id != 0 && entries[id] == nil:
                    entries[id] = Array(value)
                default: break
                }
            } damage: { page, _ in
                damagedPages.insert(page)
                isDamaged = true
            }
            // Without any class the next catalog is the only hope; with some, it fills the gaps.
            if classes.isEmpty { isDamaged = true }
        }
        version = database ?? 0
        namelessTables = entries.keys.filter { classes[$0] == nil }.sorted()
        guard !classes.isEmpty || (entries.isEmpty && damagedPages.isEmpty) else {
            throw StorageError(
                .corrupt,
                "The catalog is damaged, and no class can be found: nothing can be salvaged",
                page: damagedPages.min()
            )
        }
        let ordered = classes.values.sorted { $0.tableID < $1.tableID }
        let stored = DatabaseSchema(classes: DatabaseSchema.called(ordered, as: nil))
        let names = Set(stored.classes.keys)
        for schema in stored.classes.values {
            let lost = schema.properties.filter { property in
                guard let target = property.targetClass else { return false }
                if !names.contains(target) { return true }
                return property.kind == .linkingObjects
                    && stored[target]?[property.originProperty ?? ""] == nil
            }
            let entry = entries[schema.tableID]
                .flatMap { entry in entry.withUnsafeBytes { try? TableEntry.read($0, of: schema) } }
            tables.append(
                Table(
                    schema: schema,
                    slots: schema.properties.map { PropertySlot($0, tree: -1, in: stored) },
                    clusters: entry?.clusters,
                    trees: entry?.trees.map(\.root) ?? [],
                    lostProperties: lost.map(\.name)
                )
            )
        }
    }

    /// The schema of the new file: that of the old one without what refers to lost classes.
    var declaredSchema: DatabaseSchema {
        DatabaseSchema(
            classes: tables.map { table in
                var declared = ClassSchema(
                    name: table.schema.name,
                    properties: table.schema.properties.filter { !table.lostProperties.contains($0.name) }
                        .map { property in
                            var property = property
                            property.column = -1
                            return property
                        },
                    compoundIndexes: table.schema.compoundIndexes,
                    isEmbedded: table.schema.isEmbedded
                )
                declared.storedName = table.schema.storedName
                declared.isNameRecorded = table.schema.isNameRecorded
                return declared
            },
            version: version
        )
    }
}
