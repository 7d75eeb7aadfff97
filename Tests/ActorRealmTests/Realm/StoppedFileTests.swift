import Foundation
import RealmStorage
import Testing

@testable import ActorRealm

/// A file that has stopped writing is opened anew, as its error says, whatever is still held of its closed realms.
@Suite("Behind a failed flush a realm that was closed and opened again writes", .timeLimit(.minutes(60)))
struct StoppedFileTests {
    let file = TestFile()
    let control = FailingDevice.Switch()

    enum Held: CaseIterable { case realm, object, results, frozen, reference }

    private var configuration: Realm.Configuration {
        var configuration = file.configuration
        configuration.makeDevice = { [control] in FailingDevice($0, control) }
        return configuration
    }

    private func held(_ held: Held, of realm: Realm) throws -> Any {
        let tally = try #require(realm.objects(Tally.self).first)
        switch held {
        case .realm: return realm
        case .object: return tally
        case .results: return realm.objects(Tally.self)
        case .frozen: return realm.freeze()
        case .reference: return ThreadSafeReference(to: tally)
        }
    }

    /// Writes, fails to, and closes the realm.
    private func stop(_ realm: Realm) throws {
        control.isOn.withLock { $0 = true }
        #expect(throws: Realm.Error.self) {
            try realm.write { _ = realm.create(Tally.self, value: ["name": "lost"]) }
        }
        control.isOn.withLock { $0 = false }
        let error = #expect(throws: Realm.Error.self) { try realm.write {} }
        #expect(error?.code == .writingStopped)
    }

    @Test("What is held of a closed realm keeps nobody from writing", arguments: Held.allCases, [false, true])
    @MainActor
    func opening(kind: Held, isAsynchronous: Bool) async throws {
        let configuration = configuration
        var realm = try await Realm(configuration: configuration)
        try realm.write { _ = realm.create(Tally.self, value: ["name": "first"]) }
        let kept = try held(kind, of: realm)
        try stop(realm)
        realm.close()
        realm =
            if isAsynchronous { try await Realm(configuration: configuration) } else { try openBlocking(configuration) }
        try realm.write { _ = realm.create(Tally.self, value: ["name": "second"]) }
        #expect(realm.objects(Tally.self).map(\.name) == ["first", "second"])
        try realm.verify()
        if let frozen = kept as? Realm, kind == .frozen { #expect(frozen.objects(Tally.self).map(\.name) == ["first"]) }
        realm.close()
        withExtendedLifetime(kept) {}
    }

    @Test(
        "With a log, too, whose checkpoint failed: nothing acknowledged is lost",
        arguments: [Held.realm, .object, .results]
    )
    @MainActor
    func logged(kind: Held) async throws {
        var configuration = configuration
        configuration.keepLog(ringByteCount: 8 * 4096)
        var realm = try await Realm(configuration: configuration)
        try realm.write { _ = realm.create(Tally.self, value: ["name": "first"]) }
        let kept = try held(kind, of: realm)
        control.isOn.withLock { $0 = true }
        var acknowledged = 0
        let error = #expect(throws: Realm.Error.self) {
            while acknowledged < 10_000 {
                try realm.write { realm.objects(Tally.self).first?.count += 1 }
                acknowledged += 1
            }
        }
        #expect(error?.code == .writingStopped)
        control.isOn.withLock { $0 = false }
        realm.close()
        realm = try await Realm(configuration: configuration)
        #expect(realm.objects(Tally.self).map(\.count) == [acknowledged])
        try realm.write { _ = realm.create(Tally.self, value: ["name": "second"]) }
        #expect(realm.objects(Tally.self).map(\.name) == ["first", "second"])
        try realm.verify()
        realm.close()
        withExtendedLifetime(kept) {}
    }

    @Test("As long as another realm of it is open, who opens it gets that file, which does not write")
    func openElsewhere() throws {
        let configuration = configuration
        try withNewRealm(configuration) { realm in
            try realm.write { _ = realm.create(Tally.self, value: ["name": "first"]) }
            try stop(realm)
            let error = #expect(throws: Realm.Error.self) {
                try withNewRealm(configuration) { other in try other.write {} }
            }
            #expect(error?.code == .writingStopped)
        }
    }
}
