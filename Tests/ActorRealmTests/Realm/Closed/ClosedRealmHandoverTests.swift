import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Frozen forms of what belongs to a closed realm, and references to it.
@Suite("What is handed over of a closed realm is empty or is not there", .timeLimit(.minutes(60)))
struct ClosedRealmHandoverTests {
    typealias Kind = ClosedRealm.Kind
    typealias Store = ClosedRealm.Store

    @Test("Frozen copies and references", arguments: Kind.allCases)
    func handover(_ kind: Kind) async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport, kind = kind as Kind] in
            report.begin()
            let store = try await Store(kind)
            try await store.prepare()
            await store.close()
            await store.handOver()
        }
        ClosedRealm.check(result, report)
    }
}

extension ClosedRealm.Store {
    func handOver() {
        at("freezing")
        expectEmpty(
            "frozen",
            held.all.freeze().isEmpty && held.names.freeze().isEmpty && held.realm.freeze().isEmpty
        )
        expectEmpty(
            "frozen",
            held.chest.freeze().name == "" && held.sizes.freeze().isEmpty && held.tags.freeze().isEmpty
        )
        expectEmpty(
            "frozen",
            held.before.freeze().isEmpty && held.sections.freeze().isEmpty && held.lid.freeze().color == ""
        )
        expectEmpty("frozen", held.all.frozen.value.isEmpty && held.realm.frozen.value.isEmpty)
        #expect(held.chest.freeze().isInvalidated)
        at("what was frozen before")
        #expect(held.frozen.name == "chest" && held.frozenAll.count == 2)
        at("thawing")
        _ = (held.chest.thaw(), held.all.thaw(), held.names.thaw())
        at("references")
        expectEmpty("references", held.realm.resolve(ThreadSafeReference(to: held.chest)) == nil)
        expectEmpty("references", held.realm.resolve(ThreadSafeReference(to: held.names)) == nil)
        expectEmpty("references", held.realm.resolve(ObjectReference(to: held.chest)) == nil)
        let wrapped = ThreadSafe(wrappedValue: held.chest)
        expectEmpty("references", wrapped.wrappedValue == nil)
        expectEmpty("frozen values", held.realm.thaw(held.all.frozen) == nil)
        at("freezing projected collections")
        for names in [held.projected, held.innerNames, held.label.innerNames] {
            #expect(names.freeze().isFrozen && names.freeze().realm?.isFrozen == true)
            expectEmpty("frozen", names.freeze().isEmpty && names.frozen.value.isEmpty)
            expectEmpty("thawed", held.realm.thaw(names.frozen) == nil)
        }
    }
}
