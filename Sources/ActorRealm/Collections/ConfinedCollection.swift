// Swift's forms of these members are in extensions of the protocols that this one refines, so that the ones here are chosen.

/// A collection that belongs to an isolation, with positions from 0.
///
/// Another job may close its realm at any time: then every position reads as nothing, and every range is empty. In a realm that is open or
/// frozen, and in an unmanaged collection, a position that does not exist ends the process, as it does in Swift's own collections.
public protocol _ConfinedCollection: RandomAccessCollection, ThreadConfined where Index == Int, Indices == Range<Int> {
    /// Ends the process for a position that a range has and the collection does not; in a realm that was closed it does nothing.
    func _refusePosition(_ position: Int, count: Int)
}

extension _ConfinedCollection {
    /// Whether the realm was closed, so that every position reads as nothing.
    @usableFromInline
    var isOfClosedRealm: Bool { realm?.isClosed ?? false }

    /// Ends the process for a position that a range has and the collection does not; in a realm that was closed it does nothing.
    public func _refusePosition(_ position: Int, count: Int) {
        if isOfClosedRealm { return }
        indexOutOfBounds(position, count: count)
    }

    /// The elements of a range of positions; none in a realm that was closed.
    ///
    /// - Precondition: There are such positions: look at `count`.
    public subscript(bounds: Range<Int>) -> Slice<Self> {
        let count = count
        if bounds.lowerBound >= 0, bounds.upperBound <= count { return Slice(base: self, bounds: bounds) }
        let isBefore = bounds.lowerBound < 0
        // The end of a range may be that of the collection.
        _refusePosition(isBefore ? bounds.lowerBound : bounds.upperBound, count: isBefore ? count : count + 1)
        return Slice(base: self, bounds: 0..<0)
    }

    /// The elements of a range of positions; none in a realm that was closed.
    ///
    /// - Precondition: There are such positions: look at `count`.
    public subscript<Positions: RangeExpression>(bounds: Positions) -> Slice<Self> where Positions.Bound == Int {
        // There `1...` would end before it begins.
        if isEmpty, isOfClosedRealm { return Slice(base: self, bounds: 0..<0) }
        return self[bounds.relative(to: self)]
    }

    /// What Swift's slices ask before they read or write a position: it is one of theirs, or their realm was closed, in which every position
    /// reads as nothing.
    @inlinable
    public func _failEarlyRangeCheck(_ index: Int, bounds: Range<Int>) {
        if bounds.contains(index) || isOfClosedRealm { return }
        // Swift's own rule, with its message.
        bounds._failEarlyRangeCheck(index, bounds: bounds)
    }

    /// The same of a position that may be the end, which Swift asks where it counts positions.
    @inlinable
    public func _failEarlyRangeCheck(_ index: Int, bounds: ClosedRange<Int>) {
        let isBetween = bounds.contains(index)
        if isBetween || isOfClosedRealm { return }
        (bounds.lowerBound..<bounds.upperBound)._failEarlyRangeCheck(index, bounds: bounds)
    }

    /// The same of a range of positions.
    @inlinable
    public func _failEarlyRangeCheck(_ range: Range<Int>, bounds: Range<Int>) {
        let isWithin = bounds.lowerBound <= range.lowerBound && range.upperBound <= bounds.upperBound
        if isWithin || isOfClosedRealm { return }
        bounds._failEarlyRangeCheck(range, bounds: bounds)
    }
}
