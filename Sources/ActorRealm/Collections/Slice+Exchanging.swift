/// What exchanges elements in a range of a list, as it does in the list: `list[1...].reverse()`.
///
/// Swift's own forms take an element out, write over its place and put it into the other one. A list or dictionary that lies in a value of
/// any kind is known by its place: what was taken out shows what was written over it. An embedded object that has an owner is not given
/// to another place.
// Only a list is such a collection. With `where Base == List<Value>` at each function, for any `Value`, Swift prefers its own forms.
extension Slice where Base: RealmCollection & MutableCollection {
    /// Exchanges two elements of the list, given by their positions there.
    ///
    /// - Precondition: A write transaction is open, the owner exists, and there are such positions: look at
    ///   ``Realm/isInWriteTransaction``, and at `isInvalidated` and `count` of the list.
    public mutating func swapAt(_ first: Int, _ second: Int) {
        // The same list.
        var list = base
        list.swapAt(first, second)
    }

    /// Turns the order of the elements of the range around.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction``, and at
    ///   `isInvalidated` of the list.
    public mutating func reverse() {
        var (first, last) = (startIndex, endIndex - 1)
        while first < last {
            swapAt(first, last)
            (first, last) = (first + 1, last - 1)
        }
    }

    /// Brings the elements of the range into a random order.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction``, and at
    ///   `isInvalidated` of the list.
    public mutating func shuffle() {
        var generator = SystemRandomNumberGenerator()
        shuffle(using: &generator)
    }

    /// Brings the elements of the range into an order that a generator chooses.
    ///
    /// - Precondition: A write transaction is open, and the owner exists: look at ``Realm/isInWriteTransaction``, and at
    ///   `isInvalidated` of the list.
    public mutating func shuffle(using generator: inout some RandomNumberGenerator) {
        var first = startIndex
        while first < endIndex - 1 {
            swapAt(first, Int.random(in: first..<endIndex, using: &generator))
            first += 1
        }
    }
}
