import Dispatch
import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// Files of another schema version, opened by whoever has such a file made anew.
@Suite("Files that do not fit, and are made anew", .timeLimit(.minutes(60)))
struct UnfitFileTests {
    let directory = TemporaryDirectory()

    private var path: String { directory.path("unfit.realm") }

    private static func configuration(_ path: String, version: UInt64, deletes: Bool = false) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Tally.self])
        configuration.schemaVersion = version
        configuration.durability = .unflushed
        configuration.deleteRealmIfMigrationNeeded = deletes
        return configuration
    }

    /// What a realm holds, which is opened and closed again.
    @discardableResult
    private static func names(_ configuration: Realm.Configuration, adding name: String? = nil) throws -> [String] {
        try withNewRealm(configuration) { realm -> [String] in
            defer { realm.close() }
            if let name { try realm.write { realm.add(Tally(name: name)) } }
            return realm.objects(Tally.self).map(\.name).sorted()
        }
    }

    /// A thread that opens a realm, and keeps what it found.
    private final class Opening: Sendable {
        private let names = Mutex<[String]?>(nil)
        let isOver = DispatchSemaphore(value: 0)

        init(_ configuration: Realm.Configuration) {
            Thread.detachNewThread { [self] in
                do {
                    let found = try UnfitFileTests.names(configuration)
                    names.withLock { $0 = found }
                } catch {
                    Issue.record(error)
                }
                isOver.signal()
            }
        }

        var found: [String]? { names.withLock { $0 } }
    }

    @Test(
        "What another opening has made of it meanwhile stays: a file in its place, or one that fits",
        arguments: [true, false]
    )
    func madeAnew(isAnotherFile: Bool) throws {
        let old = Self.configuration(path, version: 0)
        let coordinator = try Realm.prepare(old)
        try Self.names(old, adding: "old")
        let calls = Counter()
        let (inside, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        coordinator.didLookForRealms = {
            calls.increment()
            // The file has been found not to fit then, and is not deleted yet.
            guard calls.value == 2 else { return }
            inside.signal()
            goesOn.wait()
        }
        let deleting = Self.configuration(path, version: 1, deletes: true)
        let opening = Opening(deleting)
        inside.wait()
        coordinator.didLookForRealms = nil
        let next = Self.configuration(path, version: 1, deletes: isAnotherFile)
        let made = Result { try Self.names(next, adding: "new") }
        goesOn.signal()
        opening.isOver.wait()
        let expected = isAnotherFile ? ["new"] : ["new", "old"]
        #expect(try made.get() == expected)
        #expect(opening.found == expected)
    }

    @Test("Another opening that is under way is waited for, and is no open realm")
    func besideOpening() throws {
        let old = Self.configuration(path, version: 0)
        try Self.names(old, adding: "old")
        let coordinator = try Realm.prepare(old)
        let deleting = Self.configuration(path, version: 1, deletes: true)
        let opening = try coordinator.opening { () -> Opening in
            let opening = Opening(deleting)
            if opening.isOver.wait(timeout: .now() + 1) == .success { opening.isOver.signal() }
            return opening
        }
        opening.isOver.wait()
        #expect(opening.found == [])
    }

    @Test("A realm that is open keeps its file")
    func besideRealm() throws {
        let old = Self.configuration(path, version: 0)
        try withNewRealm(old) { realm in
            try realm.write { realm.add(Tally(name: "old")) }
            let error = #expect(throws: Realm.Error.self) {
                try Self.names(Self.configuration(path, version: 1, deletes: true))
            }
            #expect(error?.code == .alreadyOpen)
            realm.close()
        }
        #expect(try Self.names(old) == ["old"])
    }

    private actor Holder {
        private var realm: Realm?

        func open(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func close() { realm?.close() }
    }

    @Test("One that another process has open is not deleted beneath it", .secondProcess)
    func besideProcess() async throws {
        let old = Self.configuration(path, version: 0)
        try Self.names(old, adding: "old")
        let holder = Holder()
        try await holder.open(old)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let error = #expect(throws: Realm.Error.self) {
                try UnfitFileTests.names(UnfitFileTests.configuration(path, version: 1, deletes: true))
            }
            #expect(error?.code == .alreadyOpen)
        }
        #expect(try Self.names(old) == ["old"])
        await holder.close()
        #expect(try Self.names(Self.configuration(path, version: 1, deletes: true)).isEmpty)
    }
}
