import RealmModel

/// What an array can do with its ranges, without `RangeReplaceableCollection`: its `+` copies the left operand and appends to the
/// copy, and the copy of a list is the list. `list + [7]` would write into the realm; without the protocol it is an array.
extension List {
    /// The elements of a range of positions.
    ///
    /// An assignment replaces them by others, of any number: `list[2..<4] = other[1...]`.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public subscript(bounds: Range<Int>) -> Slice<List> {
        get {
            if isClosed { return Slice(base: self, bounds: 0..<0) }
            return Slice(base: self, bounds: checkRange(bounds) ? bounds : 0..<0)
        }
        set {
            // What was changed in a slice of this list was changed in the list.
            if newValue.base === self, newValue.indices == bounds { return }
            replaceSubrange(bounds, with: newValue)
        }
    }

    /// The elements of a range of positions.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public subscript<Positions: RangeExpression>(bounds: Positions) -> Slice<List> where Positions.Bound == Int {
        get { isClosed ? Slice(base: self, bounds: 0..<0) : self[bounds.relative(to: self)] }
        set { if !isClosed { self[bounds.relative(to: self)] = newValue } }
    }

    /// The elements of a range of positions as an array.
    ///
    /// An assignment replaces them by others, of any number: `list[2..<4] = [1, 2, 3]`.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    @_disfavoredOverload
    public subscript<Positions: RangeExpression>(bounds: Positions) -> [Element] where Positions.Bound == Int {
        get { isClosed ? [] : Array(self[bounds.relative(to: self)]) }
        set { replaceSubrange(bounds, with: newValue) }
    }

    /// Adds elements at the end, as ``append(objectsIn:)`` does.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func append<Elements: Sequence>(contentsOf newElements: Elements) where Elements.Element == Element {
        append(objectsIn: newElements)
    }

    /// Inserts elements before a position.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public func insert<Elements: Collection>(contentsOf newElements: Elements, at index: Int)
    where Elements.Element == Element {
        replace(index..<index, with: Array(newElements))
    }

    /// Replaces elements by others, all of which are read before the first is written: they may be this list's.
    private func replace(_ range: Range<Int>, with elements: [Element]) {
        if range.isEmpty, elements.isEmpty { return }
        guard let place else {
            guard checkRange(range) else { return }
            unmanaged.replaceSubrange(range, with: elements)
            return
        }
        guard let writer = place.writer(), checkRange(range), let stored = Self.encoded(elements, writer) else {
            return
        }
        if !range.isEmpty { place.remove(in: range) }
        if !stored.isEmpty { place.insert(stored, at: range.lowerBound) }
        writer.finish()
    }

    /// Calls a closure with the elements one behind the other, for the algorithms of the standard library, and takes over what it leaves there.
    ///
    /// Only where `sort` would write over what it is to read, or could not write: elements may be lists or dictionaries, which are known
    /// by their places, or are embedded objects, which are exchanged, since none is given to another place.
    public func withContiguousMutableStorageIfAvailable<Result>(
        _ body: (inout UnsafeMutableBufferPointer<Element>) throws -> Result
    ) rethrows -> Result? {
        guard let place else { return nil }
        if Element.self is ObjectBase.Type, place.backing.elements?.info.isEmbedded == true {
            let before = Array(self)
            var elements = before
            let result = try elements.withUnsafeMutableBufferPointer { try body(&$0) }
            exchange(before, for: elements, in: place.backing)
            return result
        }
        guard Element._elementShape.kind == .any else { return nil }
        let live = LiveValues(core: place.core)
        let backing = place.backing
        // Swift takes some for equal that are stored otherwise: texts of other bytes, and zeros of two signs.
        func isStored(_ element: Element, as other: Element) -> Bool {
            guard let one = Element._storedElement(element, in: backing)?.value,
                let other = Element._storedElement(other, in: backing)?.value
            else { return false }
            return one.isIdentical(to: other)
        }
        let before = Array(self).map { live.read($0) }
        var elements = before
        let result = try elements.withUnsafeMutableBufferPointer { try body(&$0) }
        for (index, element) in elements.enumerated() where !isStored(element, as: before[index]) {
            self[index] = element
        }
        return result
    }

    /// Brings embedded objects to the places that they are to have, and then writes the others, which are new.
    private func exchange(_ before: [Element], for elements: [Element], in backing: _CollectionBacking) {
        func key(_ element: Element) -> Int64? {
            guard case .link(let key)? = Element._storedElement(element, in: backing)?.value else { return nil }
            return key
        }
        let wanted = elements.map { key($0) }
        var current = before.map { key($0) }
        var indices: [Int64: Int] = [:]
        for case (let index, let key?) in current.enumerated() { indices[key] = index }
        for (index, key) in wanted.enumerated() where key != current[index] {
            // One that is to be in two places stays in the first.
            guard let key, let other = indices[key], wanted[other] != key else { continue }
            swapAt(index, other)
            current.swapAt(index, other)
            indices[key] = index
            if let moved = current[other] { indices[moved] = other }
        }
        for (index, element) in elements.enumerated() where wanted[index] != current[index] {
            self[index] = element
        }
    }

    /// Replaces the elements of a range of positions by others, of any number.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public func replaceSubrange<Elements: Collection, Positions: RangeExpression>(
        _ subrange: Positions,
        with newElements: Elements
    ) where Elements.Element == Element, Positions.Bound == Int {
        if isClosed { return }
        let range = subrange.relative(to: self)
        guard checkRange(range) else { return }
        let elements = Array(newElements)
        if elements.isEmpty, !range.isEmpty { ElementSource.checkContents(of: newElements) }
        replace(range, with: elements)
    }

    /// Removes elements from the start.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public func removeFirst(_ number: Int = 1) {
        if isClosed { return }
        guard hasElements(number, of: count) else { return }
        removeSubrange(0..<number)
    }

    /// Removes elements from the end.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public func removeLast(_ number: Int = 1) {
        if isClosed { return }
        let count = count
        guard hasElements(number, of: count) else { return }
        removeSubrange(count - number..<count)
    }

    /// Traps for more elements than there are; false inside a migration, which keeps the mistake.
    private func hasElements(_ number: Int, of count: Int) -> Bool {
        if number >= 0, number <= count { return true }
        let message =
            number < 0
            ? "Cannot remove a negative number of objects from a list: \(number)."
            : "It is not possible to remove more objects (\(number)) from a list than it already contains (\(count))."
        guard let place else { misuse(message) }
        place.mistake(message)
        return false
    }

    /// Removes the elements of a range of positions.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, ``isInvalidated`` and ``count``.
    public func removeSubrange<Positions: RangeExpression>(_ bounds: Positions) where Positions.Bound == Int {
        if isClosed { return }
        let range = bounds.relative(to: self)
        guard checkRange(range) else { return }
        guard let place else {
            unmanaged.removeSubrange(range)
            return
        }
        guard let writer = place.writer() else { return }
        place.remove(in: range)
        writer.finish()
    }

    /// Removes the elements for which a condition holds.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
        let positions = try enumerated().filter { try shouldBeRemoved($0.element) }.map(\.offset)
        for position in positions.reversed() { remove(at: position) }
    }

    /// Removes all elements; `keepingCapacity` is accepted as an array does, and means nothing to a managed list.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction`` and
    ///   ``isInvalidated``. Where values come from outside, ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of the
    ///   owner throws.
    public func removeAll(keepingCapacity: Bool) {
        if place == nil { unmanaged.removeAll(keepingCapacity: keepingCapacity) } else { removeAll() }
    }

    /// Makes room for so many elements in an unmanaged list.
    public func reserveCapacity(_ minimumCapacity: Int) {
        if place == nil { unmanaged.reserveCapacity(minimumCapacity) }
    }

    /// Traps for a range that is not within the list; false inside a migration, which keeps the mistake.
    private func checkRange(_ range: Range<Int>) -> Bool {
        let count = count
        if range.lowerBound >= 0, range.upperBound <= count { return true }
        let isBefore = range.lowerBound < 0
        refuseIndex(
            isBefore ? range.lowerBound : range.upperBound,
            count: isBefore ? count : count + 1,
            in: place
        )
        return false
    }
}
