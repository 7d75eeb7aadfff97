import ActorRealm
import Foundation

/// Actors that block in `write` beside actors that suspend in `asyncWrite`, all on one file.
///
/// `realm-storm --mixed 2880` times so many transactions by actors of which one more than there are processors block, and by as many
/// actors that only suspend. Blocked threads of Swift's pool must not make everybody wait for a clock.
actor MixedWriter {
    private var realm: Realm!

    init(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    func run(_ ids: Range<Int>, blocks: Bool) async throws {
        for id in ids {
            if blocks {
                try realm.write { _ = realm.create(Entry.self, value: ["id": id]) }
                // Other actors' jobs run on this thread now and then.
                await Task.yield()
            } else {
                try await realm.asyncWrite { _ = realm.create(Entry.self, value: ["id": id]) }
            }
        }
    }

    var count: Int {
        realm.refresh()
        return realm.objects(Entry.self).count
    }
}

extension Storm {
    /// Times both; true when every transaction is in its file.
    static func mixed(_ options: Options, transactions: Int) async throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mixed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let processors = ProcessInfo.processInfo.activeProcessorCount
        let writers = processors + 6
        let each = transactions / writers
        var isWhole = true
        for blocking in [0, processors + 1] {
            var options = options
            options.path = folder.appendingPathComponent("\(blocking).realm").path
            var actors: [MixedWriter] = []
            for _ in 0..<writers { actors.append(try await MixedWriter(configuration(options))) }
            let elapsed = try await ContinuousClock()
                .measure {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for (index, actor) in actors.enumerated() {
                            let ids = index * each..<(index + 1) * each
                            group.addTask { try await actor.run(ids, blocks: index < blocking) }
                        }
                        try await group.waitForAll()
                    }
                }
            let count = await actors[0].count
            if count != writers * each { isWhole = false }
            print(
                "\(blocking) of \(writers) actors block: \(count) transactions in \(elapsed), \(processors) processors, "
                    + (options.isFlushed ? "flushed" : "without a flush")
            )
        }
        return isWhole
    }
}
