import ActorRealm
import Dispatch
import Testing

/// Work that one isolation makes due for another.
@Suite("What is handed to an actor", .timeLimit(.minutes(60)))
struct PostedWorkTests {
    let file = TestFile()

    enum Request {
        @TaskLocal static var name: String?
    }

    actor Store {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func writeLater(_ told: Journal<String?>) {
            realm.writeAsync({ told.add(Request.name) }, onComplete: { _ in told.add(Request.name) })
        }
    }

    private func cancel(_ realm: Realm, on queue: DispatchQueue) {
        Request.$name.withValue("other") { queue.sync { realm.cancelWrite() } }
    }

    @Test("An actor's blocks see no task-local values of the task whose transaction they waited for")
    func taskLocalValues() async throws {
        let configuration = file.fast
        let store = try await Store(configuration)
        let told = Journal<String?>()
        let queue = DispatchQueue(label: "other")
        let realm = try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            realm.beginWrite()
            return realm
        }
        await store.writeLater(told)
        cancel(realm, on: queue)
        #expect(await told.wait(for: 2) == [nil, nil])
        queue.sync { realm.close() }
    }
}
