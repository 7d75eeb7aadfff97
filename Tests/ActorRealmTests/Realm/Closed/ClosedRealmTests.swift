import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// What a closed realm itself is asked for; what was reached from it has the suites beside this one.
@Suite("Use after close() throws or finds nothing, and never ends the process", .timeLimit(.minutes(60)))
struct ClosedRealmTests {
    typealias Kind = ClosedRealm.Kind
    typealias Store = ClosedRealm.Store

    @Test("The realm itself, and what is written without a task", arguments: Kind.allCases)
    func realm(_ kind: Kind) async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport, kind = kind as Kind] in
            report.begin()
            let store = try await Store(kind)
            try await store.prepare()
            await store.close()
            await store.useRealm()
        }
        ClosedRealm.check(result, report)
    }

    actor Writer {
        private var realm: Realm!
        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        /// Goes on writing after another job of the actor has closed the realm in the midst.
        func write() async throws -> Realm.Error? {
            let transaction = try await realm.beginAsyncWrite()
            let tally = realm.create(Tally.self, value: ["name": "a"])
            await Task.detached { await self.close() }.value
            tally.count = 5
            realm.create(Tally.self, value: ["name": "b"])
            do {
                try await transaction.commit()
                return nil
            } catch { return error as? Realm.Error }
        }

        func close() { realm.close() }
    }

    @Test(
        "A transaction that another job closes the realm of goes nowhere, and its commit says so; the log says it once"
    )
    func inTransaction() async throws {
        let file = TestFile()
        let log = Journal<String>()
        var configuration = file.fast
        configuration.logger = Logger(level: .warn) { _, message in log.add(message) }
        let writer = try await Writer(configuration)
        #expect(try await writer.write()?.code == .closed)
        #expect(log.entries.count { $0.contains("used after it was closed") } == 1, "\(log.entries)")
        try withNewRealm(configuration) { #expect($0.objects(Tally.self).isEmpty) }
    }
}

extension ClosedRealm.Store {
    func useRealm() {
        let realm = held.realm
        at("the realm")
        #expect(realm.isInvalidated && !realm.isInWriteTransaction && !realm.isFrozen)
        expectEmpty("objects", realm.objects(Chest.self).isEmpty && realm.isEmpty)
        expectEmpty("object", realm.object(ofType: Chest.self, forPrimaryKey: 1) == nil)
        expectEmpty("dynamic", realm.dynamicObjects("Chest").isEmpty)
        expectEmpty("dynamic", realm.dynamicObject(ofType: "Chest", forPrimaryKey: 1) == nil)
        _ = (
            realm.schema.objectSchema.count, realm.configuration, realm.version, realm.autorefresh, realm.isOutdated
        )
        at("refreshing")
        realm.autorefresh = true
        #expect(!realm.refresh())
        expectEmpty("versions", realm.activeVersions.isEmpty)
        at("closing again")
        realm.invalidate()
        realm.close()
        expectClosed("write") { try realm.write { _ = Issue.record("the block runs") } }
        expectClosed("write with a timeout") { try realm.write(timeout: .seconds(1)) {} }
        expectClosed("beginWriteTransaction") { try realm.beginWriteTransaction() }
        at("beginWrite")
        realm.beginWrite()
        #expect(!realm.isInWriteTransaction)
        at("create")
        let made = realm.create(Chest.self, value: ["id": 9])
        #expect(made.realm == nil)
        at("add")
        let added = Chest()
        realm.add(added)
        realm.add([added], update: .modified)
        #expect(added.realm == nil)
        at("dynamicCreate")
        _ = realm.dynamicCreate("Chest", value: ["id": 9])["name"]
        at("delete")
        realm.delete(held.chest)
        realm.delete([held.chest, held.other])
        realm.delete(held.all)
        realm.delete(held.inner)
        realm.deleteAll()
        expectClosed("commitWrite") { try realm.commitWrite() }
        at("cancelWrite")
        realm.cancelWrite()
        expectClosed("insert an object") { try realm.insert(Chest()) }
        expectClosed("insert") { try realm.insert(Chest.self, value: ["id": 9]) }
        expectClosed("insert JSON") { try realm.insert(Chest.self, json: Data("{}".utf8)) }
        expectClosed("verify") { try realm.verify() }
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("copy-\(UUID().uuidString)")
        expectClosed("writeCopy") { try realm.writeCopy(toFile: copy) }
        expectClosed("cancelAsyncWrite") { try realm.cancelAsyncWrite(1) }
        #expect(!realm.isPerformingAsynchronousWriteOperations)
    }
}
