import RealmModel
import RealmQuery

/// Follows the sections of observed results from delivery to delivery, in the isolation that they are delivered to.
final class SectionTracker<Key: _Persistable & Hashable, Element: RealmCollectionValue> {
    typealias Store = SectionStore<Key, Element>

    /// The sections now, and how they differ from those before.
    struct Step {
        let store: Store
        /// Nil for the first delivery.
        let delta: SectionDelta?
        let before: Store.Contents?
    }

    private let source: ObservationSource<CollectionSubject>
    private let rule: SectionRule<Key, Element>
    private var contents: Store.Contents?
    /// What was delivered last, in the realm of an isolation; frozen results are the loop's, and would hold their version.
    private var delivered: Results<Element>?
    /// The numbers of the rows' keys in versions whose commits were left out, until the delivery of that version or a later one.
    private var shown: [UInt64: [Int]] = [:]

    init(_ source: ObservationSource<CollectionSubject>, _ rule: SectionRule<Key, Element>) {
        self.source = source
        self.rule = rule
    }

    /// Moves to the version of a delivery.
    func step(_ pending: ChangeCursor<CollectionSubject>.Pending, in core: RealmCore) -> Step? {
        guard let results = source.resolved(pending, in: core, after: delivered) else { return nil }
        if case .keys(let observed) = pending.state, let order = observed.order {
            results.backing.adopt(order)
        }
        delivered = results.keptWhileLive
        let noted = shown
        // A commit that is left out may be on its way while what was before it is delivered.
        shown = shown.filter { $0.key > pending.target.version }
        guard let delta = pending.delta, var before = contents,
            let rows = rowsShown(before.layout.numbers, pending.silent, noted)
        else {
            let known = shown.isEmpty ? nil : contents
            let contents = Store.evaluate(results, rule, known: known ?? Store.Contents())
            self.contents = contents
            return Step(store: Store(results, rule, contents: contents), delta: nil, before: nil)
        }
        if let rows { before.layout = SectionLayout(rows) }
        var now = before
        let numbers = numbers(of: results, after: delta, in: &now)
        if numbers != before.layout.numbers { now.layout = SectionLayout(numbers) }
        let change = SectionDelta(from: before.layout, to: now.layout, rows: delta)
        if shown.isEmpty { now.forgetUnused() }
        contents = now
        return Step(store: Store(results, rule, contents: now), delta: change, before: before)
    }

    /// Notes the sections in the open transaction of a realm, whose commit is to be left out.
    ///
    /// It may come before the first delivery, which may be of an earlier version.
    ///
    /// - Complexity: O(*n*): each row's key is asked for.
    func note(in core: RealmCore, keepingFrom oldest: UInt64?) {
        let known = delivered.flatMap { $0.realm?.core === core && !$0.isInvalidated ? $0 : nil }
        guard let results = known ?? Results<Element>._resolve(source.reference, in: core.realm()) else { return }
        if let oldest { shown = shown.filter { $0.key >= oldest } }
        // The keys that came now are numbered, the sections delivered stay.
        var contents = contents ?? Store.Contents()
        shown[core.model.version] = results.map { contents.number(of: rule.key($0), in: results.backing) }
        self.contents = contents
    }

    /// The numbers of the rows that the observer shows, if not those of the last delivery; the outer nil when they are not known.
    private func rowsShown(
        _ told: [Int],
        _ silent: ChangeHolding<CollectionSubject>.Silent,
        _ noted: [UInt64: [Int]]
    ) -> [Int]?? {
        if silent.whole == nil, silent.parts.isEmpty { return .some(nil) }
        var rows = told
        if let version = silent.whole {
            guard let known = noted[version] else { return nil }
            rows = known
        }
        for part in silent.parts {
            guard let known = noted[part.version] else { return nil }
            rows = part.untold.leavingOut(part.left).shown.applied(to: rows) { known[$0] }
        }
        return rows
    }

    /// The number of each row's key, where only rows that were touched are looked at.
    private func numbers(
        of results: Results<Element>,
        after delta: CollectionDelta,
        in contents: inout Store.Contents
    ) -> [Int] {
        let old = contents.layout.numbers
        let count = results.count
        let backing = results.backing
        guard old.count - delta.deletions.count + delta.insertions.count == count else {
            return results.map { contents.number(of: rule.key($0), in: backing) }
        }
        var numbers = old
        if !delta.deletions.isEmpty || !delta.insertions.isEmpty {
            numbers.removeAll(keepingCapacity: true)
            var deleted = 0
            var inserted = 0
            for (row, number) in old.enumerated() {
                if deleted < delta.deletions.count, delta.deletions[deleted] == row {
                    deleted += 1
                    continue
                }
                while inserted < delta.insertions.count, delta.insertions[inserted] == numbers.count {
                    numbers.append(0)
                    inserted += 1
                }
                numbers.append(number)
            }
            while numbers.count < count { numbers.append(0) }
        }
        for row in delta.insertions { numbers[row] = contents.number(of: rule.key(results[row]), in: backing) }
        for row in delta.modificationsInNew { numbers[row] = contents.number(of: rule.key(results[row]), in: backing) }
        return numbers
    }
}

extension SectionStore.Contents {
    /// Numbers the keys anew when most of them are no longer in use.
    mutating func forgetUnused() {
        guard keys.count > 64 + 4 * layout.sections.count else { return }
        var renumbered = [Int](repeating: -1, count: keys.count)
        let used = layout.sections.map { keys[$0] }
        for (index, number) in layout.sections.enumerated() { renumbered[number] = index }
        layout = SectionLayout(layout.numbers.map { renumbered[$0] })
        keys = used
        numbers = numbers.compactMapValues { renumbered[$0] < 0 ? nil : renumbered[$0] }
    }
}
