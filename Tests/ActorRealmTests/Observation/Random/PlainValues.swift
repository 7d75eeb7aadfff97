import RealmModel
import RealmTestSupport
import Testing

@testable import ActorRealm

/// An observed list or set of numbers or words, as it is or ordered, each once, or the first ones.
struct PlainValues: PlainObserved {
    let owner: PlainAddress
    let property: PlainProperty
    var isAscending: Bool?
    var isDistinct = false
    var limit: (count: Int, offset: Int)?

    private var isRefined: Bool { isAscending != nil || isDistinct || limit != nil }

    var summary: String {
        "\(owner).\(property.name), ascending \(isAscending.map { "\($0)" } ?? "or not"), distinct \(isDistinct), limit "
            + (limit.map { "\($0)" } ?? "none")
    }

    var origin: PlainAddress? { owner }

    func isGone(_ world: PlainWorld) -> Bool { world.row(owner) == nil }

    private func content(_ world: PlainWorld) -> [PlainValue] {
        var values = world.row(owner)?.lists[property.name] ?? []
        if let isAscending {
            values = values.enumerated()
                .sorted { one, other in
                    if one.element.hasPlace(of: other.element) { return one.offset < other.offset }
                    return one.element.precedes(other.element) == isAscending
                }
                .map(\.element)
        }
        if isDistinct { values = PlainWorld.firsts(values) { $0 } }
        if let limit { values = Array(values.dropFirst(limit.offset).prefix(limit.count)) }
        return values
    }

    func isConcerned(from old: PlainWorld, to new: PlainWorld, _ writes: PlainWrites) -> Bool {
        content(old) != content(new) || isGone(old) != isGone(new)
    }

    func check(_ told: ToldChange, from old: PlainWorld?, to new: PlainWorld, _ writes: PlainWrites, _ comment: Comment)
    {
        #expect(told.failure == nil, comment)
        let after = content(new)
        #expect(told.texts == after.map { "\($0)" }, comment)
        #expect(told.isInitial == (old == nil), comment)
        guard let old else { return }
        let before = content(old)
        guard told.fits(before.count, after.count) else {
            Issue.record("\(told). \(comment)")
            return
        }
        let isPlainList = property.collection == .list && !isRefined
        #expect(told.applied(before, after, modifications: isPlainList) == after, comment)
        if isPlainList {
            // A modification is a value in the place of another one.
            #expect(zip(told.modifications, told.modificationsNew).allSatisfy { before[$0] != after[$1] }, comment)
        } else {
            #expect(told.modifications.isEmpty, comment)
        }
        if property.collection == .set, limit == nil {
            #expect(told.deletions.allSatisfy { !after.contains(before[$0]) }, comment)
        }
        #expect(told.moves.isEmpty, comment)
    }

    func changes(_ world: PlainWorld, in realm: Realm) -> PlainChanges {
        let collection = world.object(owner, in: realm)![property.name] as! any RealmCollection
        return changes(of: collection)
    }

    private func changes<Collection: RealmCollection>(of collection: Collection) -> PlainChanges {
        guard isRefined else { return PlainChanges(collection.changes(), PlainChanges.valueText) }
        var results: Results<Collection.Element>?
        if let isAscending { results = collection.sorted(ascending: isAscending) }
        if isDistinct { results = results?.distinct() ?? collection.distinct() }
        if let limit {
            results =
                results?.limit(limit.count, offset: limit.offset) ?? collection.limit(limit.count, offset: limit.offset)
        }
        return PlainChanges(results!.changes(), PlainChanges.valueText)
    }

    /// A list or a set of a random object; nil when there is none.
    static func random(_ world: PlainWorld, _ random: inout SplitMix64) -> PlainValues? {
        let type = world.classes.indices.randomElement(using: &random)!
        guard let serial = world.serials(type).randomElement(using: &random),
            let property = world.classes[type].sequences.filter({ !$0.isLink }).randomElement(using: &random)
        else { return nil }
        var values = PlainValues(owner: PlainAddress(type: type, serial: serial), property: property)
        func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }
        if chance(0.2) { values.isAscending = chance(0.5) }
        if chance(0.15) { values.isDistinct = true }
        if chance(0.15) { values.limit = (.random(in: 1...4, using: &random), .random(in: 0...2, using: &random)) }
        return values
    }
}
