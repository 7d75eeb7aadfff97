import ActorRealm
import Foundation
import Synchronization
import Testing

/// Opened synchronously where a realm is open, a realm is that one.
@Suite("Synchronous realms on plain threads and queues are those that are open there", .timeLimit(.minutes(60)))
struct SynchronousRealmTests {
    let file = PortingFile()

    @Test("on a global queue, a realm opened in the block of a write is the one that writes")
    func nestedOnGlobalQueue() throws {
        let configuration = file.configuration
        let names = try onGlobalQueue {
            try Realm(configuration: configuration)
                .write {
                    let inner = try Realm(configuration: configuration)
                    #expect(inner.isInWriteTransaction)
                    inner.create(Harbour.self, value: ["id": 1, "name": "Rotterdam"])
                    try Realm(configuration: configuration).add(Harbour(id: 2, name: "Hamburg"))
                }
            return Array(try Realm(configuration: configuration).objects(Harbour.self).map { $0.name })
        }
        #expect(names == ["Rotterdam", "Hamburg"])
    }

    @Test("so it is on a concurrent queue of the program's own, on a thread, in a task and on a serial queue")
    func nestedElsewhere() async throws {
        let configuration = file.configuration
        let nest: @Sendable (Int) throws -> Void = { id in
            let realm = try Realm(configuration: configuration)
            try realm.write {
                #expect(try Realm(configuration: configuration) === realm)
                try Realm(configuration: configuration).add(Harbour(id: id))
            }
        }
        let concurrent = DispatchQueue(label: "crowd", attributes: .concurrent)
        try concurrent.sync { try nest(1) }
        try await withCheckedThrowingContinuation { continuation in
            concurrent.async { continuation.resume(with: Result { try nest(2) }) }
        }
        try onNewThread { try nest(3) }
        try await Task.detached { try nest(4) }.value
        let serial = DispatchQueue(label: "serial")
        try serial.sync { try nest(5) }
        try serial.sync {
            let realm = try Realm(configuration: configuration, queue: serial)
            try realm.write {
                let found = try Realm(configuration: configuration)
                let named = try Realm(configuration: configuration, queue: serial)
                #expect(found === realm && named === realm)
                realm.add(Harbour(id: 6))
            }
        }
        let count = try onNewThread { try Realm(configuration: configuration).objects(Harbour.self).count }
        #expect(count == 6)
    }

    @Test("many blocks of a global queue write at once, each with its own realm")
    func manyWriters() throws {
        let configuration = file.configuration
        DispatchQueue.concurrentPerform(iterations: 64) { id in
            try! Realm(configuration: configuration)
                .write { try! Realm(configuration: configuration).add(Harbour(id: id)) }
        }
        let count = try onNewThread { try Realm(configuration: configuration).objects(Harbour.self).count }
        #expect(count == 64)
    }

    @Test("a block that comes later on the same thread or queue sees what was committed meanwhile")
    func nothingIsKept() throws {
        let configuration = file.configuration
        for id in 0..<50 {
            // The pool of the global queue uses its threads again.
            let seen = try onGlobalQueue { try Realm(configuration: configuration).objects(Harbour.self).count }
            #expect(seen == id)
            try onNewThread {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.add(Harbour(id: id)) }
            }
        }
    }

    @Test("equal configurations that were made apart give one realm, and another file another one")
    func equalConfigurations() throws {
        let (configuration, other) = (file.configuration, PortingFile())
        try onNewThread {
            let realm = try Realm(configuration: configuration)
            var equal = Realm.Configuration(fileURL: configuration.fileURL)
            equal.objectTypes = configuration.objectTypes
            #expect(try Realm(configuration: equal) === realm)
            let apart = try Realm(configuration: other.configuration)
            #expect(apart !== realm)
            try realm.write {
                try Realm(configuration: other.configuration)
                    .write { try Realm(configuration: other.configuration).add(Harbour(id: 1)) }
                #expect(try Realm(configuration: equal).objects(Harbour.self).isEmpty)
            }
        }
    }

    @Test("after invalidate() the realm that is open is still the one that an opening gives")
    func afterInvalidating() throws {
        let configuration = file.configuration
        try onNewThread {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Harbour(id: 1)) }
            realm.invalidate()
            #expect(try Realm(configuration: configuration) === realm)
            try realm.write {
                try Realm(configuration: configuration).add(Harbour(id: 2))
                #expect(realm.objects(Harbour.self).count == 2)
            }
        }
    }

    @Test("a realm that nobody holds any more is gone: the next opening stands on the newest version")
    func released() throws {
        let configuration = file.configuration
        try onNewThread {
            for id in 0..<10 {
                // What `autoreleasepool { }` is around on other platforms.
                try {
                    try Realm(configuration: configuration)
                        .write { try Realm(configuration: configuration).add(Harbour(id: id)) }
                }()
                try onNewThread {
                    let elsewhere = try Realm(configuration: configuration)
                    try elsewhere.write { elsewhere.object(ofType: Harbour.self, forPrimaryKey: id)?.name = "seen" }
                }
                let name = try Realm(configuration: configuration).object(ofType: Harbour.self, forPrimaryKey: id)?.name
                #expect(name == "seen")
            }
        }
    }
}
