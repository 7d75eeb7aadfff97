import RealmModel
import RealmStorage

/// Counts the objects of a collection for which a condition holds.
final class SubqueryCounter {
    private let hop: PathHop
    let condition: Condition
    /// The subquery's number in the query.
    private let number: Int
    /// Whether verdicts are worth remembering: an expensive condition may meet the same object from many rows.
    private let remembers: Bool

    init(_ hop: PathHop, condition: Condition, number: Int) {
        self.hop = hop
        self.condition = condition
        self.number = number
        remembers = condition.cost > 100
    }

    func count(of location: RowLocation, key: Int64, _ context: QueryContext) throws -> Int {
        var count = 0
        for key in try hop.targets(of: location, key: key) where try holds(key, context) { count += 1 }
        return count
    }

    private func holds(_ key: Int64, _ context: QueryContext) throws -> Bool {
        if remembers, let known = context.verdict(of: number, key: key) { return known }
        guard let target = try context.locate(key, in: hop.target, slot: hop.slot) else { return false }
        let holds = try condition.test(target, key: key, context)
        if remembers { context.setVerdict(holds, of: number, key: key) }
        return holds
    }
}
