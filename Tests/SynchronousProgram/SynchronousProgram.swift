import ActorRealm
import Dispatch
import Foundation

class Entry: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text = ""

    convenience init(id: Int, text: String = "") {
        self.init()
        self.id = id
        self.text = text
    }
}

/// What a program does with realms that it opens on its main thread, outside every task and every actor that the compiler
/// knows of.
final class SynchronousProgram {
    private let configuration: Realm.Configuration
    private var tokens: [NotificationToken] = []

    init(path: String) {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path))
        configuration.objectTypes = [Entry.self]
        self.configuration = configuration
    }

    private func writeElsewhere(_ body: @escaping @Sendable (Realm) -> Void) {
        let configuration = configuration
        DispatchQueue.global()
            .async {
                let realm = try! Realm(configuration: configuration)
                try! realm.write { body(realm) }
            }
    }

    // MARK: With a run loop

    func runLoop() {
        let realm = try! Realm(configuration: configuration)
        require(try! Realm(configuration: configuration, queue: .main) === realm, "the main queue's realm is this one")
        observeAll(realm)
        writeAsynchronously(realm)
        follow(realm)
        observeAsTestsDo(realm)
    }

    private func observeAll(_ realm: Realm) {
        let initial = Expectation("the initial results")
        let update = Expectation("the update of the results")
        let change = Expectation("the change of the object")
        let refresh = Expectation("the notification of the realm")
        tokens.append(
            realm.objects(Entry.self)
                .observe { change in
                    switch change {
                    case .initial: initial.fulfill()
                    case .update(let entries, _, _, _): if entries.first?.text == "elsewhere" { update.fulfill() }
                    case .error: break
                    }
                }
        )
        initial.wait()
        try! realm.write { realm.add(Entry(id: 1, text: "here")) }
        let entry = realm.object(ofType: Entry.self, forPrimaryKey: 1)!
        tokens.append(
            entry.observe { (change: ObjectChange<Entry>) in
                if case .change(let entry, let properties) = change, entry.text == "elsewhere",
                    properties.map(\.name) == ["text"]
                {
                    change_fulfill()
                }
            }
        )
        func change_fulfill() { change.fulfill() }
        tokens.append(realm.observe { _, _ in refresh.fulfill() })
        writeElsewhere { $0.object(ofType: Entry.self, forPrimaryKey: 1)?.text = "elsewhere" }
        update.wait()
        change.wait()
        refresh.wait()
        print("observed")
    }

    private func writeAsynchronously(_ realm: Realm) {
        let written = Expectation("the end of writeAsync")
        realm.writeAsync {
            realm.add(Entry(id: 2))
        } onComplete: { error in
            require(error == nil && Thread.isMainThread, "writeAsync completes on the main thread")
            written.fulfill()
        }
        written.wait()
        let committed = Expectation("the end of commitAsyncWrite")
        realm.beginAsyncWrite {
            realm.add(Entry(id: 3))
            realm.commitAsyncWrite { error in
                require(error == nil, "commitAsyncWrite succeeds")
                committed.fulfill()
            }
        }
        require(realm.isPerformingAsynchronousWriteOperations, "an asynchronous write is under way")
        committed.wait()
        require(realm.objects(Entry.self).count == 3, "three entries")
        print("written")
    }

    private func follow(_ realm: Realm) {
        let entries = realm.objects(Entry.self)
        let deadline = Date(timeIntervalSinceNow: 60)
        writeElsewhere { $0.add(Entry(id: 4)) }
        while entries.count != 4, Date() < deadline { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.01)) }
        require(entries.count == 4, "the realm refreshes itself")
        realm.autorefresh = false
        let required = Expectation("a notification that a refresh is required")
        let token = realm.observe { notification, _ in if notification == .refreshRequired { required.fulfill() } }
        writeElsewhere { $0.add(Entry(id: 5)) }
        required.wait()
        require(entries.count == 4, "a realm without autorefresh stays")
        require(realm.refresh() && entries.count == 5, "it moves when it is asked")
        realm.autorefresh = true
        token.invalidate()
        print("followed")
    }

    /// Waits for a write of a global queue in the way of synchronous tests: the queue's block fulfils nothing, the notification does.
    private func observeAsTestsDo(_ realm: Realm) {
        for id in 6..<16 {
            let told = Expectation("the notification of entry \(id)")
            let token = realm.objects(Entry.self).where { $0.id == id }
                .observe(on: nil) { change in if case .update(_, _, [0], _) = change { told.fulfill() } }
            let initial = Expectation("the initial results of entry \(id)")
            let second = realm.objects(Entry.self).where { $0.id == id }
                .observe { change in if case .initial = change { initial.fulfill() } }
            initial.wait()
            writeElsewhere { $0.add(Entry(id: id)) }
            told.wait()
            token.invalidate()
            second.invalidate()
        }
        print("as tests do")
    }

    // MARK: With dispatchMain

    func dispatchMain() -> Never {
        let realm = try! Realm(configuration: configuration)
        let configuration = configuration
        var seen: [Int] = []
        tokens.append(
            realm.objects(Entry.self)
                .observe { change in
                    guard let entries = change.collection else { return }
                    seen.append(entries.count)
                    switch entries.count {
                    case 0:
                        DispatchQueue.global()
                            .async {
                                let realm = try! Realm(configuration: configuration)
                                try! realm.write { realm.add(Entry(id: 1)) }
                            }
                    case 1:
                        realm.writeAsync {
                            realm.add(Entry(id: 2))
                        } onComplete: { error in
                            require(error == nil, "writeAsync succeeds")
                        }
                    default:
                        require(seen == [0, 1, 2], "every version once: \(seen)")
                        require(
                            try! Realm(configuration: configuration) === realm,
                            "the main queue's realm is this one"
                        )
                        print("done")
                        exit(0)
                    }
                }
        )
        DispatchQueue.global()
            .asyncAfter(deadline: .now() + 60) {
                print("never came")
                exit(1)
            }
        Dispatch.dispatchMain()
    }
}
