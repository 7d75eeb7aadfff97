/// Where the elements of a sequence lie: what can be asked before it is gone over.
///
/// A view of the standard library over a collection, such as a slice, what is lazily mapped or an `AnyCollection`, reads that when it is gone
/// over itself, at the positions that were there when it was made.
struct ElementSource {
    /// The sequence itself, or what is below all views.
    let elements: Any
    /// Whether a view reads them.
    let isViewed: Bool
    /// The position behind the last one that a view has in it; 0 where none has positions of its own.
    private let end: Int

    init(of value: Any) {
        var elements = value
        var end = 0
        var isViewed = false
        while let view = elements as? any SequenceView, let base = view.viewedElements {
            end = max(end, view.viewedEnd)
            elements = base
            isViewed = true
        }
        self.elements = elements
        self.isViewed = isViewed
        self.end = end
    }

    /// Reads the elements of a collection that may belong to a realm, for where going over them would end the process.
    ///
    /// - Throws: What `requireReadable()` of the collection does, and `Realm.Error` with the code `.invalidInput` where it does not have all
    ///   positions of the view any more.
    func requireReadable() throws {
        let value = elements
        if let collection = value as? any RealmCollection { try collection.requireReadable() }
        try (value as? any BackedMap)?.requireReadable()
        let shown = value as? any ShownElements
        try shown?.requireReadable()
        if end == 0 { return }
        let count = (value as? any RealmCollection)?.count ?? shown?.count
        guard let count, end > count else { return }
        throw Realm.Error(
            .invalidInput,
            "A slice has positions up to \(end), and its collection has \(count) elements now: give an array of the "
                + "elements."
        )
    }

    /// The same for an argument of a predicate, for which results that are empty because their realm was invalidated are an error as well.
    ///
    /// - Parameter limit: So many elements are gone over at most.
    /// - Throws: As `requireReadable()`, and `Realm.Error` with the code `.invalidatedObject` for such results.
    func requireArgument(first limit: Int) throws {
        if ValueReader.isPlain(elements) { return }
        if let collection = elements as? any RealmCollection {
            try collection.readableBacking()?.core.requireReading()
            // A view may begin anywhere.
            if !isViewed { return try collection.requireFirst(limit) }
        }
        try requireReadable()
    }

    /// Traps when a collection, or what it shows, has nothing because its owner is gone.
    static func checkContents(of value: Any) {
        var elements = ElementSource(of: value).elements
        while let shown = elements as? any ShownElements { elements = shown.base }
        if let place = (elements as? any ReadableElements)?.place { return place.checkContents() }
        (elements as? any RealmCollection)?._backing?.checkContents()
    }

    /// A position as a number; 0 for those of other types.
    fileprivate static func number(of index: Any) -> Int {
        if let index = index as? Int { return index }
        return (index as? any ReversedPosition)?.number ?? 0
    }
}

/// A collection that shows those of a realm, and is none of them.
private protocol ShownElements {
    /// The collection whose elements it shows.
    var base: Any { get }
    var count: Int { get }
    func requireReadable() throws
}

extension ProjectedCollection: ShownElements {
    fileprivate var base: Any { source.confined }
}

extension ResultsSection: ShownElements {
    fileprivate var base: Any { store.results }
}

extension SectionedResults: ShownElements {
    fileprivate var base: Any { store.results }
}

/// A sequence of the standard library that reads another one when it is gone over.
private protocol SequenceView {
    var viewedElements: Any? { get }
    var viewedEnd: Int { get }
}

extension SequenceView {
    /// Most views keep it to themselves, and those without a type in a box.
    fileprivate var viewedElements: Any? {
        let mirror = Mirror(reflecting: self)
        if let base = mirror.descendant("_base") { return base }
        return mirror.descendant("_box", "_base")
    }
    fileprivate var viewedEnd: Int { 0 }
}

extension Slice: SequenceView {
    fileprivate var viewedElements: Any? { base }
    /// Of what is turned around the first position is behind the last one.
    fileprivate var viewedEnd: Int {
        Swift.max(ElementSource.number(of: startIndex), ElementSource.number(of: endIndex))
    }
}

extension ReversedCollection: SequenceView {}
extension LazySequence: SequenceView {}
extension LazyFilterSequence: SequenceView {}
extension LazyMapSequence: SequenceView {}
extension LazyDropWhileSequence: SequenceView {}
extension LazyPrefixWhileSequence: SequenceView {}
extension PrefixSequence: SequenceView {}
extension DropFirstSequence: SequenceView {}
extension AnySequence: SequenceView {}
extension AnyCollection: SequenceView {}
extension AnyBidirectionalCollection: SequenceView {}
extension AnyRandomAccessCollection: SequenceView {}

private protocol ReversedPosition {
    var number: Int { get }
}

extension ReversedCollection.Index: ReversedPosition {
    fileprivate var number: Int { ElementSource.number(of: base) }
}
