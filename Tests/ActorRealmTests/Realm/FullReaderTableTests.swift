import Foundation
import RealmStorage
import Testing

@testable import ActorRealm

/// Writes of a process that reads as many versions at once as it may.
@Suite("A full table of readers", .timeLimit(.minutes(60)))
struct FullReaderTableTests {
    let file = TestFile()

    @Test("A write is refused before it writes where its realm could not stand, and otherwise returns and is there")
    func writing() throws {
        let configuration = file.fast
        var kept: [Snapshot] = []
        var written = 0
        try withNewRealm(configuration) { realm in
            let tally = try realm.write { realm.create(Tally.self, value: ["name": "a"]) }
            let storage = realm.core.coordinator.file
            var failure: Realm.Error?
            while failure == nil {
                do {
                    try realm.write { tally.count += 1 }
                    written += 1
                    try kept.append(storage.beginRead())
                } catch {
                    failure = error as? Realm.Error
                }
            }
            #expect(failure?.code == .limitExceeded)
            #expect(kept.count > 4_000)
            #expect(tally.count == written && storage.newestVersion == realm.core.version)
            // Each one that is let go of makes room for one write.
            for _ in 0..<5 {
                kept.removeFirst()
                try realm.write { tally.count += 1 }
                written += 1
                #expect(tally.count == written)
                try kept.append(storage.beginRead())
            }
            let refused = #expect(throws: Realm.Error.self) { try realm.write { tally.count += 1 } }
            #expect(refused?.code == .limitExceeded)
            #expect(tally.count == written)
            realm.close()
        }
        kept = []
        try withNewRealm(configuration) { realm in
            #expect(realm.objects(Tally.self).map(\.count) == [written])
            try realm.verify()
        }
    }

    private static func shared(_ path: String) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Tally.self])
        configuration.durability = .unflushed
        return configuration
    }

    @Test("Another process reads and writes beside one that has used up its table")
    func besideFullTable() async throws {
        let path = file.directory.path("shared.realm")
        let full = try await FullProcess(Self.shared(path))
        #expect(try await full.fill() == .limitExceeded)
        #expect(await full.keptCount > 4_000)
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(FullReaderTableTests.shared(path)) { realm in
                let tally = try realm.write { realm.create(Tally.self, value: ["name": "there"]) }
                let storage = realm.core.coordinator.file
                var kept: [Snapshot] = []
                for _ in 0..<20 {
                    try realm.write { tally.count += 1 }
                    try kept.append(storage.beginRead())
                }
                #expect(storage.pinnedVersionCount >= 20)
                #expect(realm.objects(Tally.self).map(\.name) == ["here", "there"])
            }
        }
        // The first one has no room for another version still, and comes to the newest once it has.
        #expect(await full.names() == ["here"])
        await full.letGo(of: 8)
        #expect(await full.names() == ["here", "there"])
        try await full.end()
    }
}

/// A realm whose process reads as many versions at once as it may.
private actor FullProcess {
    private var realm: Realm!
    private var kept: [Snapshot] = []

    init(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
        // It moves when it is told to.
        realm.autorefresh = false
    }

    var keptCount: Int { kept.count }

    /// Writes, and keeps each version, until a write is refused; returns why.
    func fill() throws -> Realm.Error.Code? {
        let storage = realm.core.coordinator.file
        let tally = try realm.write { realm.create(Tally.self, value: ["name": "here"]) }
        while true {
            do {
                try realm.write { tally.count += 1 }
                try kept.append(storage.beginRead())
            } catch {
                return (error as? Realm.Error)?.code
            }
        }
    }

    /// The names in the newest version that can be read.
    func names() -> [String] {
        realm.refresh()
        return realm.objects(Tally.self).map(\.name)
    }

    func letGo(of count: Int) { kept.removeFirst(count) }

    func end() throws {
        kept = []
        try realm.verify()
        realm.close()
        realm = nil
    }
}
