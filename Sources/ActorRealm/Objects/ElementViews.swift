/// A collection that shows those of a realm, and is none of them.
protocol ShownElements {
    /// The collection whose elements it shows.
    var base: Any { get }
    /// What is read for it: all sections of the same results have one.
    var whole: AnyObject { get }
    var count: Int { get }
    func requireReadable() throws
}

extension ProjectedCollection: ShownElements {
    var base: Any { source.confined }
    var whole: AnyObject { source }
}

extension ResultsSection: ShownElements {
    var base: Any { store.results }
    var whole: AnyObject { store }
}

extension SectionedResults: ShownElements {
    var base: Any { store.results }
    var whole: AnyObject { store }
}

/// A sequence of the standard library that reads another one when it is gone over.
protocol SequenceView {
    /// The types of what it reads; nil where its own type does not say them.
    static var viewedTypes: [Any.Type]? { get }
    var viewedElements: Any? { get }
    var viewedEnd: Int { get }
}

extension SequenceView {
    static var viewedTypes: [Any.Type]? { nil }

    /// Most views keep it to themselves, and those without a type in a box.
    var viewedElements: Any? {
        let mirror = Mirror(reflecting: self)
        if let base = mirror.descendant("_base") { return base }
        return mirror.descendant("_box", "_base")
    }
    var viewedEnd: Int { 0 }
}

/// A view that goes over what is below it by positions.
protocol PositionalView {}

/// A view that keeps positions in what is below it.
protocol SlicedView: PositionalView {}

extension Slice: SlicedView {}
extension ReversedCollection: PositionalView {}

/// A collection without a type, which keeps its first position and the one behind its last.
protocol ErasedView {}

extension AnyCollection: ErasedView {}
extension AnyBidirectionalCollection: ErasedView {}
extension AnyRandomAccessCollection: ErasedView {}

/// A view that ends behind a number of elements.
protocol FirstElements {
    /// So many; `Int.max` where it does not say so.
    var greatestCount: Int { get }
}

extension PrefixSequence: FirstElements {
    var greatestCount: Int { Mirror(reflecting: self).descendant("_maxLength") as? Int ?? .max }
}

/// A view of which a closure says what is in it.
protocol ChoosingView {}

extension LazyFilterSequence: ChoosingView {}
extension LazyDropWhileSequence: ChoosingView {}
extension LazyPrefixWhileSequence: ChoosingView {}

extension Slice: SequenceView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
    var viewedElements: Any? { base }
    /// Of what is turned around the first position is behind the last one.
    var viewedEnd: Int { Swift.max(ElementSource.number(of: startIndex), ElementSource.number(of: endIndex)) }
}

extension ReversedCollection: SequenceView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
}

extension LazySequence: SequenceView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
}

extension LazyFilterSequence: SequenceView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
}

extension LazyMapSequence: SequenceView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
}

extension LazyDropWhileSequence: SequenceView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
}

extension LazyPrefixWhileSequence: SequenceView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
}

extension PrefixSequence: SequenceView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
}

extension DropFirstSequence: SequenceView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
}

extension AnySequence: SequenceView {}
extension AnyCollection: SequenceView {}
extension AnyBidirectionalCollection: SequenceView {}
extension AnyRandomAccessCollection: SequenceView {}

/// A view that gives all elements that are below it, from the first one on.
protocol WholeView {}

extension LazySequence: WholeView {}
extension LazyMapSequence: WholeView {}
extension AnySequence: WholeView {}
extension AnyCollection: WholeView {}
extension AnyBidirectionalCollection: WholeView {}
extension AnyRandomAccessCollection: WholeView {}

/// A view that may end before what is below it does.
protocol PartialView {}

extension Slice: PartialView {}
extension PrefixSequence: PartialView {}
extension LazyPrefixWhileSequence: PartialView {}

/// What ends with the shorter one of its parts.
protocol PairedView {}

extension Zip2Sequence: PairedView {}

/// A sequence or an iterator of the standard library that goes over other ones, of which most do not tell how far they go, or have come.
protocol BlindView: SequenceView {
    /// What it holds.
    var parts: [Any] { get }
}

/// What begins anew whenever it is gone over, and keeps no position: what it holds can be looked at.
protocol AnewView: BlindView {}

/// What goes over the elements of what it goes over.
protocol JoinedView: BlindView {
    /// Whether these elements may go over collections of the library.
    var joinsViews: Bool { get }
}

extension BlindView {
    var viewedElements: Any? { nil }

    var parts: [Any] {
        let mirror = Mirror(reflecting: self)
        // An iterator without a type is in a box.
        if let base = mirror.descendant("_box", "_base") { return [base] }
        return mirror.children.map(\.value)
    }
}

extension IndexingIterator: BlindView {
    static var viewedTypes: [Any.Type]? { [Elements.self] }
}

extension IteratorSequence: BlindView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
}

extension AnyIterator: BlindView {}

extension EnumeratedSequence: AnewView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
}

extension EnumeratedSequence.Iterator: BlindView {}

extension Zip2Sequence: AnewView {
    static var viewedTypes: [Any.Type]? { [Sequence1.self, Sequence2.self] }
}

extension Zip2Sequence.Iterator: BlindView {}
extension ReversedCollection.Iterator: BlindView {}
extension LazyFilterSequence.Iterator: BlindView {}
extension LazyMapSequence.Iterator: BlindView {}
extension LazyDropWhileSequence.Iterator: BlindView {}
extension LazyPrefixWhileSequence.Iterator: BlindView {}
extension PrefixSequence.Iterator: BlindView {}

extension DropWhileSequence: BlindView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
}

extension DropWhileSequence.Iterator: BlindView {}

extension DiscontiguousSlice: BlindView {
    static var viewedTypes: [Any.Type]? { [Base.self] }
}

extension DefaultIndices: BlindView {
    static var viewedTypes: [Any.Type]? { [Elements.self] }
}

extension FlattenSequence: AnewView, JoinedView {
    static var viewedTypes: [Any.Type]? { [Base.self, Base.Element.self] }
    var joinsViews: Bool { ElementSource.mayRead(Base.Element.self) }
}

extension FlattenSequence.Iterator: JoinedView {
    var joinsViews: Bool { ElementSource.mayRead(Base.Element.self) }
}

extension JoinedSequence: AnewView, JoinedView {
    static var viewedTypes: [Any.Type]? { [Base.self, Base.Element.self] }
    var joinsViews: Bool { ElementSource.mayRead(Base.Element.self) }
}

extension JoinedSequence.Iterator: JoinedView {
    var joinsViews: Bool { ElementSource.mayRead(Base.Element.self) }
}

/// A sequence that makes its elements where it is gone over, and holds none: it may have more than memory does.
protocol MadeSequence {}

extension Range: MadeSequence {}
extension ClosedRange: MadeSequence {}
extension PartialRangeFrom: MadeSequence {}
extension Repeated: MadeSequence {}

/// Numbers at equal distances.
protocol NumberSequence: MadeSequence {}

extension StrideTo: NumberSequence {}
extension StrideThrough: NumberSequence {}

/// What begins anew whenever it is gone over, and never ends.
protocol EndlessSequence {}

extension PartialRangeFrom: EndlessSequence {}

/// An iterator of the library's own.
protocol ElementIterator {}

extension RealmIterator: ElementIterator {}
extension SectionIterator: ElementIterator {}

protocol ReversedPosition {
    var number: Int { get }
}

extension ReversedCollection.Index: ReversedPosition {
    var number: Int { ElementSource.number(of: base) }
}
