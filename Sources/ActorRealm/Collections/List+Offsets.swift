public import Foundation

extension List {
    /// Removes the elements at some positions.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public func remove(atOffsets offsets: IndexSet) {
        for range in offsets.rangeView.reversed() { removeSubrange(range) }
    }

    /// Moves the elements at some positions so that they stand together before another one, in the order they had.
    ///
    /// - Parameters:
    ///   - offsets: The positions of the elements.
    ///   - destination: The position, in the list as it is before, that they are put before; `count` for the end.
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
        if destination < 0 || destination > count {
            return refuseIndex(destination, count: count + 1, in: place)
        }
        // Those before the destination move up to it one after the other, those behind move down.
        var moved = 0
        for offset in offsets where offset < destination {
            move(from: offset - moved, to: destination - 1)
            moved += 1
        }
        var place = destination
        for offset in offsets where offset >= destination {
            move(from: offset, to: place)
            place += 1
        }
    }
}
