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
