/// What an array can do with its ranges, without `RangeReplaceableCollection`: its `+` copies the left operand and appends to the
/// copy, and the copy of a list is the list. `list + [7]` would write into the realm; without the protocol it is an array.
extension List {
    /// The elements of a range of positions.
    ///
    /// An assignment replaces them by others, of any number: `list[2..<4] = other[1...]`.
    public subscript(bounds: Range<Int>) -> Slice<List> {
        get {
            if isClosed { return Slice(base: self, bounds: 0..<0) }
            checkRange(bounds)
            return Slice(base: self, bounds: bounds)
        }
        set {
            // What was changed in a slice of this list was changed in the list.
            if newValue.base === self, newValue.indices == bounds { return }
            replaceSubrange(bounds, with: newValue)
        }
    }

    /// The elements of a range of positions.
    public subscript<Positions: RangeExpression>(bounds: Positions) -> Slice<List> where Positions.Bound == Int {
        get { self[bounds.relative(to: self)] }
        set { self[bounds.relative(to: self)] = newValue }
    }

    /// The elements of a range of positions as an array.
    ///
    /// An assignment replaces them by others, of any number: `list[2..<4] = [1, 2, 3]`.
    @_disfavoredOverload
    public subscript<Positions: RangeExpression>(bounds: Positions) -> [Element] where Positions.Bound == Int {
        get { Array(self[bounds.relative(to: self)]) }
        set { replaceSubrange(bounds, with: newValue) }
    }

    /// Adds elements at the end, as ``append(objectsIn:)`` does.
    public func append<Elements: Sequence>(contentsOf newElements: Elements) where Elements.Element == Element {
        append(objectsIn: newElements)
    }

    /// Inserts elements before a position.
    public func insert<Elements: Collection>(contentsOf newElements: Elements, at index: Int)
    where Elements.Element == Element {
        // The elements may be this list's.
        var position = index
        for element in Array(newElements) {
            insert(element, at: position)
            position += 1
        }
    }

    /// Replaces the elements of a range of positions by others, of any number.
    public func replaceSubrange<Elements: Collection, Positions: RangeExpression>(
        _ subrange: Positions,
        with newElements: Elements
    ) where Elements.Element == Element, Positions.Bound == Int {
        if isClosed { return }
        let range = subrange.relative(to: self)
        let elements = Array(newElements)
        removeSubrange(range)
        insert(contentsOf: elements, at: range.lowerBound)
    }

    /// Removes elements from the start.
    public func removeFirst(_ number: Int = 1) {
        if isClosed { return }
        requireElements(number, of: count)
        removeSubrange(0..<number)
    }

    /// Removes elements from the end.
    public func removeLast(_ number: Int = 1) {
        if isClosed { return }
        let count = count
        requireElements(number, of: count)
        removeSubrange(count - number..<count)
    }

    /// Traps for more elements than there are.
    private func requireElements(_ number: Int, of count: Int) {
        if number < 0 { misuse("Cannot remove a negative number of objects from a list: \(number).") }
        if number > count {
            misuse(
                "It is not possible to remove more objects (\(number)) from a list than it already contains (\(count))."
            )
        }
    }

    /// Removes the elements of a range of positions.
    public func removeSubrange<Positions: RangeExpression>(_ bounds: Positions) where Positions.Bound == Int {
        if isClosed { return }
        let range = bounds.relative(to: self)
        checkRange(range)
        guard let place else {
            unmanaged.removeSubrange(range)
            return
        }
        guard let writer = place.writer() else { return }
        place.remove(in: range)
        writer.finish()
    }

    /// Removes the elements for which a condition holds.
    public func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
        let positions = try enumerated().filter { try shouldBeRemoved($0.element) }.map(\.offset)
        for position in positions.reversed() { remove(at: position) }
    }

    /// Removes all elements; `keepingCapacity` is accepted as an array does, and means nothing to a managed list.
    public func removeAll(keepingCapacity: Bool) {
        if place == nil { unmanaged.removeAll(keepingCapacity: keepingCapacity) } else { removeAll() }
    }

    /// Makes room for so many elements in an unmanaged list.
    public func reserveCapacity(_ minimumCapacity: Int) {
        if place == nil { unmanaged.reserveCapacity(minimumCapacity) }
    }

    /// Traps for a range that is not within the list.
    private func checkRange(_ range: Range<Int>) {
        if range.lowerBound < 0 { indexOutOfBounds(range.lowerBound, count: count) }
        if range.upperBound > count { indexOutOfBounds(range.upperBound, count: count + 1) }
    }
}
