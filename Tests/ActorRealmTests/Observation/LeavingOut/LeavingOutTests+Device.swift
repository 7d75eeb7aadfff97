import Dispatch
import RealmTestSupport
import Testing

@testable import ActorRealm

extension LeavingOutTests {
    @Test(
        "sections told while a write that leaves them out is on its way to the disk go on from there",
        arguments: [false, true]
    )
    func onItsWay(isFirst: Bool) async throws {
        var configuration = file.configuration
        let gate = GatedDevice.Control()
        // The gate is before the realm file.
        configuration.keepsLog = false
        configuration.makeDevice = { GatedDevice($0, gate) }
        let worker = try await Worker(configuration)
        for id in 1...4 { try await worker.add(id, "t\(id)", priority: id % 2) }
        let queue = DispatchQueue(label: "others")
        let others = try queue.sync { try Realm(configuration: configuration, queue: queue) }
        let journal = Journal<SectionsTold>()
        let tokens = Journal<NotificationToken>()
        @Sendable func observe(_ realm: Realm) -> NotificationToken {
            realm.objects(Chore.self).sorted(byKeyPath: "id").sectioned(by: \.priority)
                .observe { change in journal.add(change.told { self.describe($0) }) }
        }
        if !isFirst {
            await worker.with { _, realm in tokens.add(observe(realm)) }
            _ = await journal.wait(for: 1)
        }
        nonisolated(unsafe) let elsewhere = others
        try await worker.with { _, realm in
            if isFirst { tokens.add(observe(realm)) }
            try queue.sync {
                try elsewhere.write { _ = elsewhere.create(Chore.self, value: ["id": 5, "name": "t5", "priority": 1]) }
            }
            gate.close()
            realm.beginWrite()
            realm.object(ofType: Chore.self, forPrimaryKey: 2)!.priority = 1
            realm.commitAsyncWrite(withoutNotifying: tokens.entries)
        }
        // Of the version before that write, which is not durable yet. Whoever was registered just now may have been told at once
        // of the one that was there then.
        let sections = ["0: t2 t4", "1: t1 t3 t5"]
        _ = await eventually { journal.entries.last?.sections == sections }
        let before = journal.entries
        #expect(before.count == 2 || before.count == 1 && isFirst)
        #expect(before.last == SectionsTold(sections: sections, insertions: before.count == 1 ? [] : [[1, 2]]))
        gate.open()
        try await worker.rename(3, "three")
        let told = await journal.wait(for: before.count + 1).last
        #expect(told == SectionsTold(sections: ["0: t4", "1: t1 t2 three t5"], modifications: [[1, 2]]))
        for token in tokens.entries { token.invalidate() }
    }
}
