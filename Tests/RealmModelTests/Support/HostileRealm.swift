import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport

/// Small realms to be forged.
enum HostileRealm {
    static let classes = [
        ClassSchema(
            name: "Item",
            properties: [
                PropertySchema(name: "id", kind: .int, isPrimaryKey: true),
                PropertySchema(name: "name", kind: .string, isIndexed: true),
                PropertySchema(name: "photo", kind: .data, isOptional: true),
                PropertySchema(name: "numbers", kind: .int, collection: .list),
                PropertySchema(name: "next", kind: .object, targetClass: "Item"),
            ]
        )
    ]

    /// A closed file with a number of rows, of which some have long values and long lists.
    static func make(
        at path: String,
        rowCount: Int64 = 40,
        compoundIndexes: [CompoundIndexSchema] = []
    ) throws -> HostileFile {
        do {
            var options = StorageOptions()
            options.durability = .none
            let file = try StorageFile.open(path: path, options: options)
            let item = ClassSchema(
                name: "Item",
                properties: classes[0].properties,
                compoundIndexes: compoundIndexes
            )
            try TestDatabase.reconcile(DatabaseSchema(classes: [item], version: 1), in: file)
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            let model = try ModelView(snapshot: file.beginRead())
            for part in 0..<4 as Range<Int64> {
                try model.begin(file.beginWrite())
                guard let items = try model.table(named: "Item") else { continue }
                for id in part * rowCount / 4..<(part + 1) * rowCount / 4 {
                    let key = try items.insert(primaryKey: .int(id))
                    try items.set("name", key, .string("item \(id)"))
                    if id % 8 == 1 {
                        try items.set("photo", key, .data([UInt8](repeating: UInt8(id % 200), count: 2_000)))
                    }
                    if id % 16 == 3 {
                        for number in 0..<300 as Range<Int64> {
                            try items.listAppend(items.ordinal("numbers"), key: key, .int(number))
                        }
                    }
                    if key > 0 { try items.set("next", key, .link(key - 1)) }
                }
                try file.publish([model.prepareCommit()])
                try model.endTransaction(advancingTo: file.beginRead())
            }
        }
        return try HostileFile(path: path)
    }
}
