import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// What objects of a closed realm are asked for.
@Suite("Objects of a closed realm read as nothing", .timeLimit(.minutes(60)))
struct ClosedRealmObjectTests {
    typealias Kind = ClosedRealm.Kind
    typealias Store = ClosedRealm.Store

    @Test("Objects: their properties, their links, and what is assigned to them", arguments: Kind.allCases)
    func objects(_ kind: Kind) async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport, kind = kind as Kind] in
            report.begin()
            let store = try await Store(kind)
            try await store.prepare()
            await store.close()
            await store.read()
        }
        ClosedRealm.check(result, report)
    }
}

extension ClosedRealm.Store {
    func read() {
        at("scalars")
        let chest = held.chest
        expectEmpty("scalars", chest.id == 0 && chest.name == "" && chest.size == 0 && chest.weight == 0)
        at("more scalars")
        expectEmpty("more scalars", !chest.isOpen && chest.blob.isEmpty && chest.price == 0)
        _ = (chest.packed, chest.code, chest.key)
        at("enums")
        expectEmpty("enums", chest.mood == .calm && chest.level == nil)
        at("optionals")
        expectEmpty("optionals", chest.note == nil && chest.amount == nil)
        at("any")
        expectEmpty("any", chest.any == .none)
        at("links")
        expectEmpty("links", chest.next == nil && chest.lid == nil && held.lid.color == "")
        at("collections of the object")
        expectEmpty("collections", chest.names.isEmpty && chest.inner.isEmpty && chest.lids.isEmpty)
        expectEmpty("collections", chest.tags.isEmpty && chest.sizes.isEmpty && held.other.before.isEmpty)
        at("identity")
        #expect(chest.isInvalidated && chest.realm === realm && !chest.isFrozen)
        _ = (chest == held.other, chest.hashValue, chest.isSameObject(as: held.other), chest.objectSchema.className)
        at("detaching")
        expectEmpty("detaching", chest.detached().name == "" && held.chest.detached(depth: 3).names.isEmpty)
        at("description")
        _ = "\(chest) \(held.lid) \(held.all) \(held.names) \(held.sizes) \(held.sections)"
        at("dynamic")
        _ = (
            held.dynamic["name"], chest["name"], chest.value(forKeyPath: "next.name"),
            held.dynamic.dynamicList("inner").count
        )
        at("writing outside a transaction")
        chest.name = "new"
        chest.mood = .calm
        chest.next = Chest()
        chest.lid = Lid()
        chest.any = .int(1)
        chest["name"] = "new"
        held.dynamic["name"] = "new"
        held.dynamic["inner"] = [["id": 5]]
        expectClosed("value(of:)") { _ = try chest.value(of: \.name) }
        expectClosed("value(of:) through a link") { _ = try chest.value(of: \.next?.name) }
    }
}
