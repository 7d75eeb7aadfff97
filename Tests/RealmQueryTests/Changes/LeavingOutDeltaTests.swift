import Foundation
import RealmTestSupport
import Testing

@testable import RealmQuery

/// Rows with identities, what leads from one sequence to the next, and who did it.
private struct Rows {
    var random: SplitMix64
    var nextID: Int64 = 1000

    mutating func pick(_ count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }

    /// A random change of a sequence of rows: the rows behind it, and the delta.
    mutating func change(_ old: [Int64]) -> (new: [Int64], delta: CollectionDelta) {
        var kept: [Int64] = []
        var moving: [Int64] = []
        var written: Set<Int64> = []
        for row in old {
            switch pick(10) {
            case 0: break
            case 1: moving.append(row)
            case 2, 3:
                written.insert(row)
                kept.append(row)
            default: kept.append(row)
            }
        }
        var new = kept
        var fresh = moving
        for _ in 0..<pick(3) {
            fresh.append(nextID)
            nextID += 1
        }
        for row in fresh { new.insert(row, at: pick(new.count + 1)) }
        let stayed = Set(kept)
        let places = Dictionary(uniqueKeysWithValues: new.enumerated().map { ($1, $0) })
        let delta = CollectionDelta(
            deletions: old.indices.filter { !stayed.contains(old[$0]) },
            insertions: new.indices.filter { !stayed.contains(new[$0]) },
            modified: old.indices.filter { written.contains(old[$0]) }.map { ($0, places[old[$0]]!) },
            moves: moving.map { (old.firstIndex(of: $0)!, places[$0]!) }
        )
        return (new, delta)
    }
}

/// The rows that a delta says were written to.
private func written(_ delta: CollectionDelta, _ new: [Int64]) -> Set<Int64> {
    Set(delta.modificationsInNew.map { new[$0] })
}

/// What there is to say against a case; nil for nothing.
private func violation(_ seed: UInt64) -> String? {
    var source = Rows(random: SplitMix64(seed: seed))
    var shown = (0..<Int64(source.pick(8))).map { $0 }
    var current = shown
    var untold: CollectionDelta?
    /// What others did since the observer was told, by row.
    var inserted: Set<Int64> = []
    var touched: Set<Int64> = []
    func holds(_ condition: Bool, _ text: String) -> String? { condition ? nil : text }
    for step in 0..<5 {
        let (new, delta) = source.change(current)
        let isLeftOut = source.pick(2) == 0
        let before = Set(current)
        let after = Set(new)
        if isLeftOut {
            if let known = untold {
                let (rest, edit) = known.leavingOut(delta)
                let old = shown
                shown = edit.applied(to: shown) { new[$0] }
                // What is shown: what was, without what was deleted, with what came.
                let expected = Set(old).subtracting(before.subtracting(after)).union(after.subtracting(before))
                if Set(shown) != expected || shown.count != expected.count {
                    return "step \(step): shows \(shown) for \(expected)"
                }
                untold = rest
            } else {
                shown = new
            }
            inserted.formIntersection(after)
            touched.formIntersection(after)
        } else {
            untold = untold.map { $0.merging(delta) } ?? delta
            inserted.formUnion(after.subtracting(before))
            inserted.formIntersection(after)
            touched.formUnion(written(delta, new))
            touched.formUnion(delta.moves.map { new[$0.to] })
            touched.formIntersection(after)
        }
        current = new
        guard let told = untold else { continue }
        // What is told leads from what is shown to what is there.
        var result = shown
        for index in told.deletions.reversed() {
            guard result.indices.contains(index) else { return "step \(step): deletion \(index) of \(shown)" }
            result.remove(at: index)
        }
        for index in told.insertions {
            guard index <= result.count, index < new.count else { return "step \(step): insertion \(index)" }
            result.insert(new[index], at: index)
        }
        if result != new {
            return "step \(step), left out \(isLeftOut): \(shown) becomes \(result) instead of \(new) by \(told)"
        }
        // Every row that others inserted is told, and none that was left out.
        let moved = Set(told.moves.map { new[$0.to] })
        for (from, to) in told.moves where shown[from] != new[to] { return "step \(step): a move of another row" }
        if !Set(told.moves.map(\.from)).isSubset(of: told.deletions) {
            return "step \(step): a move that is no deletion"
        }
        if !Set(told.moves.map(\.to)).isSubset(of: told.insertions) {
            return "step \(step): a move that is no insertion"
        }
        let toldNew = Set(told.insertions.map { new[$0] }).subtracting(moved)
        if toldNew != inserted { return "step \(step): told \(toldNew) inserted instead of \(inserted)" }
        let toldGone = Set(told.deletions.map { shown[$0] }).subtracting(moved)
        if toldGone != Set(shown).subtracting(after) { return "step \(step): told \(toldGone) deleted" }
        // Every row that others wrote to or moved is told, unless it is told as new; no other is.
        let toldTouched = written(told, new).union(moved)
        if toldTouched != touched.subtracting(inserted) {
            return "step \(step): told \(toldTouched) instead of \(touched)"
        }
        if zip(told.modifications, told.modificationsInNew).contains(where: { shown[$0] != new[$1] }) {
            return "step \(step): a modification of another row"
        }
        if told.newIndices(ofKept: told.modifications) != told.modificationsInNew { return "step \(step): places" }
    }
    return nil
}

@Suite("What is left to tell of a collection when commits among others are left out")
struct LeavingOutDeltaTests {
    @Test("leads exactly from what is shown to what is there, tells all of others' changes and none of those left out")
    func exact() {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["REALM_LEAVING_OUT_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0..<(1 << 40))
        let count = environment["REALM_LEAVING_OUT_CASES"].flatMap(UInt64.init) ?? 5_000
        var violations = 0
        for number in seed..<seed + count {
            guard let text = violation(number) else { continue }
            violations += 1
            Issue.record("REALM_LEAVING_OUT_SEED=\(number): \(text)")
        }
        CampaignRecord.add("left out deltas", seeds: seed..<seed + count, cases: Int(count), violations: violations)
    }

    @Test("names that were left out are not told, others' names are")
    func names() {
        let others = EntriesDelta(deletions: ["a", "b"], insertions: ["c", "d"], modifications: ["e", "f"])
        let left = EntriesDelta(deletions: ["c", "e"], insertions: ["a", "x"], modifications: ["d", "f"])
        let rest = others.leavingOut(left)
        #expect(rest == EntriesDelta(deletions: ["b"], insertions: ["d"], modifications: ["f"]))
        let later = EntriesDelta(deletions: ["d", "x"], insertions: ["b", "y"], modifications: ["a"])
        #expect(
            rest.merging(later) == EntriesDelta(deletions: ["x"], insertions: ["y"], modifications: ["a", "b", "f"])
        )
    }
}
