import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// What a closed realm is asked to do behind an `await`, or by a block.
@Suite("Asynchronous calls of a closed realm end, and throw where they can", .timeLimit(.minutes(60)))
struct ClosedRealmAsynchronousTests {
    typealias Kind = ClosedRealm.Kind
    typealias Store = ClosedRealm.Store

    @Test("Asynchronous writes, change sequences and blocks", arguments: Kind.allCases)
    func asynchronous(_ kind: Kind) async {
        let report = ChildReport()
        let result = await #expect(processExitsWith: .success, observing: [\.exitStatus]) {
            [report = report as ChildReport, kind = kind as Kind] in
            report.begin()
            let store = try await Store(kind)
            try await store.prepare()
            await store.close()
            await store.wait()
        }
        ClosedRealm.check(result, report)
    }
}

extension ClosedRealm.Store {
    func wait() async {
        at("asyncRefresh")
        #expect(await !held.realm.asyncRefresh())
        at("asyncWrite")
        let realm = held.realm
        await expectClosedAsync("asyncWrite") { try await realm.asyncWrite { _ = Issue.record("the block runs") } }
        await expectClosedAsync("beginAsyncWrite") { try await realm.beginAsyncWrite().cancel() }
        at("writeAsync")
        let (results, result) = AsyncStream<(any Error)?>.makeStream()
        realm.writeAsync {
            Issue.record("the block runs")
        } onComplete: {
            result.yield($0)
        }
        realm.beginAsyncWrite { Issue.record("the block runs") }
        realm.commitAsyncWrite { result.yield($0) }
        var iterator = results.makeAsyncIterator()
        for _ in 0..<2 {
            let error = await iterator.next() ?? nil
            #expect((error as? Realm.Error)?.code == .closed)
        }
        at("changes")
        for await _ in held.all.changes() { Issue.record("a change is told") }
        for await _ in held.chest.changes() { Issue.record("a change is told") }
        for await _ in held.sizes.changes() { Issue.record("a change is told") }
        for await _ in held.sections.changes() { Issue.record("a change is told") }
        for await _ in realm.changes { Issue.record("a change is told") }
        // One that begins anew waits without end behind what it is told first.
        for names in [held.projected, held.innerNames, held.label.innerNames] {
            for await _ in names.changes() {
                Issue.record("a change is told")
                break
            }
        }
        for await _ in held.label.changes() {
            Issue.record("a change is told")
            break
        }
        for await _ in held.section.changes() {
            Issue.record("a change is told")
            break
        }
        at("observe")
        let before = told
        let tokens = [
            held.all.observe { _ in Issue.record("a change is told") },
            held.chest.observe { (_: ObjectChange<Chest>) in Issue.record("a change is told") },
            held.sizes.observe { _ in Issue.record("a change is told") },
            held.sections.observe { _ in Issue.record("a change is told") },
            held.projected.observe { _ in Issue.record("a change is told") },
            held.innerNames.observe { _ in Issue.record("a change is told") },
            realm.observe { _, _ in Issue.record("a change is told") },
        ]
        for token in tokens { token.invalidate() }
        token?.invalidate()
        #expect(told == before)
    }

    private func expectClosedAsync(_ name: String, _ body: () async throws -> Void) async {
        at(name)
        do {
            try await body()
            Issue.record("\(name) goes on")
        } catch { #expect((error as? Realm.Error)?.code == .closed, "\(name): \(error)") }
    }
}
