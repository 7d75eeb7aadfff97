import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite("Writes that leave out observers, and fail", .timeLimit(.minutes(60)))
struct FailedSkipTests {
    private let file = DockFile()

    enum Form: String, CaseIterable {
        case write, commitWrite, asyncWrite, asyncTransaction, writeAsync, commitAsyncWrite
    }

    /// Writes to everything that is observed.
    private static func change(_ realm: Realm, _ name: String) {
        DockFile.dock(realm).name = name
        realm.object(ofType: Boat.self, forPrimaryKey: 1)?.name = name
    }

    /// Writes in a form, without notifying; gives the failure.
    private static func write(
        _ form: Form,
        _ realm: Realm,
        without tokens: [NotificationToken],
        _ name: String,
        _ isolation: isolated any Actor = #isolation
    ) async -> (any Error)? {
        do {
            switch form {
            case .write: try realm.write(withoutNotifying: tokens) { change(realm, name) }
            case .commitWrite:
                realm.beginWrite()
                change(realm, name)
                try realm.commitWrite(withoutNotifying: tokens)
            case .asyncWrite: try await realm.asyncWrite(withoutNotifying: tokens) { change(realm, name) }
            case .asyncTransaction:
                let transaction = try await realm.beginAsyncWrite()
                change(realm, name)
                try await transaction.commit(withoutNotifying: tokens)
            case .writeAsync:
                return await withCheckedContinuation { continuation in
                    realm.writeAsync(withoutNotifying: tokens, { change(realm, name) }) {
                        continuation.resume(returning: $0)
                    }
                }
            case .commitAsyncWrite:
                return await withCheckedContinuation { continuation in
                    realm.beginAsyncWrite {
                        change(realm, name)
                        realm.commitAsyncWrite(withoutNotifying: tokens) { continuation.resume(returning: $0) }
                    }
                }
            }
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "one that failed does not keep the next one, which has its number, from those left out",
        arguments: Form.allCases
    )
    func told(form: Form) async throws {
        let isFull = FullDevice.Switch()
        var configuration = file.configuration
        configuration.makeDevice = { FullDevice($0, isFull) }
        let worker = try await file.worker(configuration)
        let journal = Journal<String>()
        let begun = Journal<Void>()
        let tokens = await worker.with { worker, realm in
            [
                DockFile.dock(realm).observe { journal.add("object \(DockFile.text($0))") },
                DockFile.dock(realm).boats
                    .observe {
                        if case .update(_, [], [], let places) = $0 {
                            journal.add("list \(places)")
                        } else {
                            begun.add(())
                        }
                    },
                DockFile.dock(realm).berths
                    .observe {
                        if case .update(_, [], [], let names) = $0 {
                            journal.add("map \(names)")
                        } else {
                            begun.add(())
                        }
                    },
                realm.observe { _, _ in journal.add("realm") },
                await realm.objects(Boat.self).where { $0.id == 1 }
                    .observe(on: worker) { _, change in
                        if case .update(_, [], [], let places) = change {
                            journal.add("actor \(places)")
                        } else {
                            begun.add(())
                        }
                    },
            ]
        }
        _ = await begun.wait(for: 3)
        try await worker.with { worker, realm in
            let version = realm.core.version
            isFull.isOn = true
            let failure = await Self.write(form, realm, without: tokens, "lost", worker)
            #expect((failure as? Realm.Error)?.code != nil, "\(String(describing: failure))")
            #expect(isFull.refused > 0)
            isFull.isOn = false
            #expect(DockFile.dock(realm).name == "east" && realm.core.version == version)
            try await realm.asyncWrite { Self.change(realm, "next") }
            #expect(realm.core.version == version + 1, "it has the number of the one that failed")
        }
        let expected = ["actor [0]", "list [0, 1, 2]", "map [\"a\"]", "object name: east -> next", "realm"]
        let waiting = Task { await journal.wait(for: expected.count) }
        let watchdog = Task {
            try await Task.sleep(for: .seconds(1_800))
            waiting.cancel()
        }
        _ = await waiting.value
        watchdog.cancel()
        #expect(await journal.settled(worker).sorted() == expected, "\(journal.entries)")
        // What does not fail is left out.
        #expect(
            await worker.with { worker, realm in await Self.write(form, realm, without: tokens, "quiet", worker) }
                == nil
        )
        #expect(await journal.settled(worker).sorted() == expected, "\(journal.entries)")
        for token in tokens { token.invalidate() }
    }
}
