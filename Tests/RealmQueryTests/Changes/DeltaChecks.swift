import Testing

@testable import RealmQuery

/// Applies a delta the way a list on a screen does, taking inserted and modified elements from the new contents.
func applying<Element>(_ delta: CollectionDelta, to old: [Element], new: [Element]) -> [Element] {
    var result = old
    for index in delta.deletions.reversed() { result.remove(at: index) }
    for index in delta.insertions { result.insert(new[index], at: index) }
    for index in delta.modificationsInNew { result[index] = new[index] }
    return result
}

/// Expects what every delta promises: ascending, in bounds, disjoint, and leading from `old` to `new` exactly.
func expectExact<Element: Hashable>(
    _ delta: CollectionDelta,
    from old: [Element],
    to new: [Element],
    _ comment: Comment
) {
    for indices in [delta.deletions, delta.insertions, delta.modifications, delta.modificationsInNew] {
        #expect(zip(indices, indices.dropFirst()).allSatisfy { $0 < $1 }, comment)
    }
    let inBounds =
        (delta.deletions + delta.modifications).allSatisfy(old.indices.contains)
        && (delta.insertions + delta.modificationsInNew).allSatisfy(new.indices.contains)
    #expect(inBounds, comment)
    #expect(Set(delta.deletions).isDisjoint(with: delta.modifications), comment)
    #expect(Set(delta.insertions).isDisjoint(with: delta.modificationsInNew), comment)
    #expect(delta.modifications.count == delta.modificationsInNew.count, comment)
    guard inBounds, old.count - delta.deletions.count + delta.insertions.count == new.count else {
        Issue.record(comment)
        return
    }
    #expect(applying(delta, to: old, new: new) == new, comment)
}

/// Expects that the moves pair every key that was deleted and inserted, once for each time, and nothing else.
func expectMoves(_ delta: CollectionDelta, from old: [Int64], to new: [Int64], _ comment: Comment) {
    let moves = delta.moves
    #expect(moves.allSatisfy { delta.deletions.contains($0.from) && delta.insertions.contains($0.to) }, comment)
    #expect(moves.allSatisfy { old[$0.from] == new[$0.to] }, comment)
    #expect(Set(moves.map(\.from)).count == moves.count && Set(moves.map(\.to)).count == moves.count, comment)
    let deleted = delta.deletions.reduce(into: [Int64: Int]()) { $0[old[$1], default: 0] += 1 }
    let inserted = delta.insertions.reduce(into: [Int64: Int]()) { $0[new[$1], default: 0] += 1 }
    #expect(moves.count == deleted.reduce(0) { $0 + min($1.value, inserted[$1.key] ?? 0) }, comment)
}
