/// Where the elements of a sequence lie: what can be asked before it is gone over.
///
/// A view of the standard library over a collection, such as a slice, what is lazily mapped or an `AnyCollection`, reads that when it is gone
/// over itself, at the positions that were there when it was made.
struct ElementSource {
    /// The sequence itself, or what is below all views.
    let elements: Any
    /// Whether a view reads them.
    let isViewed: Bool
    /// Whether they are read by something that does not say what it reads, and that goes over a collection of the library, or may.
    let isBlind: Bool
    /// Whether a view keeps positions.
    private let isSliced: Bool
    /// Whether the views give all elements that are below them, from the first one on.
    private let isWhole: Bool
    /// Whether the views end where what is below them does, and not before.
    private let isEnded: Bool
    /// So many elements the views give at most; `Int.max` where nobody can say.
    private let most: Int
    /// Whether a view goes over what is below it by positions.
    private let isPositional: Bool
    /// Whether a view goes by positions over something that has kept some of which nobody knows whether they are there still.
    private let isLost: Bool
    /// The type of the sequence itself.
    private let type: Any.Type
    /// The position behind the last one that a view has in it; 0 where none has positions of its own.
    private let end: Int

    /// Looks into a sequence.
    ///
    /// - Parameters:
    ///   - value: The sequence.
    ///   - byPositions: Whether something goes over it by positions.
    init(of value: Any, byPositions: Bool = false) {
        var elements = value
        var end = 0
        var isViewed = false
        var isBlind = false
        var isSliced = false
        var isWhole = true
        var isEnded = true
        var most = Int.max
        var isPositional = byPositions
        var isLost = false
        while let view = elements as? any SequenceView {
            guard let base = view.viewedElements else {
                isBlind = view is any BlindView && ElementSource.reads(view)
                break
            }
            end = max(end, view.viewedEnd)
            // What a closure chooses are other positions as soon as something changes; a collection without a type keeps the first one
            // and the last one that it had when it was made.
            if isSliced && view is any ChoosingView || isPositional && view is any ErasedView { isLost = true }
            if view is any PositionalView { isPositional = true }
            if view is any SlicedView { isSliced = true }
            if let first = view as? any FirstElements {
                most = min(most, first.greatestCount)
            } else if !(view is any WholeView) {
                isWhole = false
                most = .max
            }
            if view is any PartialView { isEnded = false }
            elements = base
            isViewed = true
        }
        self.elements = elements
        self.isViewed = isViewed
        self.isBlind = isBlind
        self.isSliced = isSliced
        self.isWhole = isWhole
        self.isEnded = isEnded
        self.most = most
        self.isPositional = isPositional
        self.isLost = isLost
        self.type = Swift.type(of: value)
        self.end = end
    }

    /// Reads the elements of a collection that may belong to a realm, for where going over them would end the process.
    ///
    /// - Throws: What `requireReadable()` of the collection does, and `Realm.Error` with the code `.invalidInput` where it does not have all
    ///   positions of the view any more, or where nobody can tell which ones something goes over.
    func requireReadable() throws {
        var last: AnyObject?
        try requireReadable(depth: 0, asArgument: false, &last)
    }

    /// The same for what is inside of a number of sequences, of which whoever asks takes a number of elements at most.
    ///
    /// - Parameters:
    ///   - depth: How many sequences it is inside of.
    ///   - isArgument: Whether it is an argument of a predicate.
    ///   - limit: So many elements are taken at most.
    ///   - last: What was read last, and need not be read again: many slices of one collection may be joined.
    /// - Throws: As `requireReadable()`.
    private func requireReadable(
        depth: Int,
        asArgument isArgument: Bool,
        first limit: Int = .max,
        _ last: inout AnyObject?
    ) throws {
        if isBlind {
            if isLost { throw blindError(type) }
            let first = min(isWhole ? limit : .max, most)
            return try requireParts(depth: depth, asArgument: isArgument, first: first, &last)
        }
        let value = elements
        if isLost, value is any RealmCollection || value is any BackedMap || value is any ShownElements {
            throw blindError(type)
        }
        if isArgument, let collection = value as? any RealmCollection { try Self.requireRealm(of: collection) }
        if let collection = value as? any RealmCollection {
            let backing = try collection.readableBacking()
            if backing == nil || backing !== last { try collection.requireReadable() }
            last = backing
        }
        try (value as? any BackedMap)?.requireReadable()
        let shown = value as? any ShownElements
        if let shown {
            if shown.whole !== last { try shown.requireReadable() }
            last = shown.whole
        }
        if end == 0 { return }
        guard let count = (value as? any RealmCollection)?.count ?? shown?.count else { return }
        if end > count {
            throw Realm.Error(
                .invalidInput,
                "A slice has positions up to \(end), and its collection has \(count) elements now: give an array of the "
                    + "elements."
            )
        }
    }

    /// The same for what begins anew whenever it is gone over: what it goes over is looked at, and the sequences that it joins.
    private func requireParts(
        depth: Int,
        asArgument isArgument: Bool,
        first limit: Int,
        _ last: inout AnyObject?
    ) throws {
        guard !isSliced, depth < Self.depthLimit, let view = elements as? any AnewView else {
            throw blindError(Swift.type(of: elements))
        }
        let parts = view.parts
        let joined = view as? any JoinedView
        var sources = parts.map { ElementSource(of: $0, byPositions: isPositional) }
        // How many of what is joined are gone over, nobody knows.
        var most = joined == nil ? limit : .max
        if view is any PairedView, sources.contains(where: { $0.joins() }) {
            // The shorter one ends it, behind one element more of the other one.
            for source in sources where !source.joins() {
                try source.requireReadable(depth: depth + 1, asArgument: isArgument, &last)
                let count = source.bound()
                if count < .max { most = min(most, count + 1) }
            }
            sources.removeAll { !$0.joins() }
        }
        for source in sources {
            try source.requireReadable(depth: depth + 1, asArgument: isArgument, first: most, &last)
        }
        guard let joined, joined.joinsViews else { return }
        // What can be gone over once only would have nothing left.
        guard let base = parts.first, Self.beginsAnew(base), let segments = base as? any Sequence else {
            throw blindError(Swift.type(of: elements))
        }
        try require(segments: segments, depth: depth + 1, asArgument: isArgument, first: limit, &last)
    }

    /// The same for what is joined, as far as it is gone over: there may be no end of it.
    private func require(
        segments: some Sequence,
        depth: Int,
        asArgument isArgument: Bool,
        first limit: Int,
        _ last: inout AnyObject?
    ) throws {
        var room = limit
        for segment in segments {
            if room <= 0 { return }
            let source = ElementSource(of: segment, byPositions: isPositional)
            try source.requireReadable(depth: depth, asArgument: isArgument, first: room, &last)
            if room < .max, !source.isBlind, source.bound() < .max,
                let segment = segment as? any RandomAccessCollection
            {
                room -= min(room, segment.count)
            }
        }
    }

    /// So many elements there are at most in what was looked at; `Int.max` where nobody can say.
    ///
    /// No view gives more than what is below it.
    private func bound(depth: Int = 0) -> Int {
        if let view = elements as? any BlindView {
            guard depth < Self.depthLimit, view is any AnewView, !(view is any JoinedView) else { return .max }
            return view.parts.map { ElementSource(of: $0).bound(depth: depth + 1) }.min() ?? .max
        }
        // A range may have more than a number says, and ends the process where it is counted.
        if elements is any RangeExpression {
            guard let range = elements as? Range<Int>, range.lowerBound >= 0 else { return .max }
            return range.count
        }
        return (elements as? any Collection)?.count ?? .max
    }

    /// Whether something that is joined is in it, of which nobody knows where it ends.
    private func joins(depth: Int = 0) -> Bool {
        guard let view = elements as? any BlindView else { return false }
        if depth >= Self.depthLimit || view is any JoinedView { return true }
        return view.parts.contains { ElementSource(of: $0).joins(depth: depth + 1) }
    }

    /// Results of a realm that was invalidated are empty, and no error elsewhere.
    private static func requireRealm(of collection: any RealmCollection) throws {
        try collection.readableBacking()?.core.requireReading()
    }

    private func blindError(_ type: Any.Type) -> Realm.Error {
        Realm.Error(
            .invalidInput,
            "The type \(type) goes over a collection that may have changed since, and nobody can look at that "
                + "before: give an array of the elements, as `Array(list)` makes one."
        )
    }

    /// As `requireReadable()` for an argument of a predicate: results that are empty because their realm was invalidated are an error as well.
    ///
    /// - Parameter limit: So many elements are gone over at most.
    /// - Throws: As `requireReadable()`, and `Realm.Error` with the code `.invalidatedObject` for such results.
    func requireArgument(first limit: Int) throws {
        if ValueReader.isPlain(elements) { return }
        // A view may begin anywhere.
        if !isViewed, let collection = elements as? any RealmCollection {
            try Self.requireRealm(of: collection)
            return try collection.requireFirst(limit)
        }
        var last: AnyObject?
        try requireReadable(depth: 0, asArgument: true, first: limit, &last)
    }

    /// Traps when a collection, or what it shows, has nothing because its owner is gone.
    static func checkContents(of value: Any) { checkContents(of: value, depth: 0, wasEnded: true) }

    /// The same for what is inside of a number of sequences, and of which all was gone over or not.
    private static func checkContents(of value: Any, depth: Int, wasEnded: Bool) {
        let source = ElementSource(of: value)
        if source.isBlind { return source.checkParts(depth: depth, wasEnded: wasEnded && source.isEnded) }
        var elements = source.elements
        while let shown = elements as? any ShownElements { elements = shown.base }
        if let place = (elements as? any ReadableElements)?.place { return place.checkContents() }
        (elements as? any RealmCollection)?._backing?.checkContents()
    }

    /// The same for what is paired, numbered and joined; of what was not gone over to its end there may be none.
    private func checkParts(depth: Int, wasEnded: Bool) {
        guard depth < Self.depthLimit, let view = elements as? any AnewView else { return }
        let parts = view.parts
        // Of what is paired one part may not have been gone over to its end.
        let isAlone = parts.count == 1
        for part in parts { Self.checkContents(of: part, depth: depth + 1, wasEnded: wasEnded && isAlone) }
        guard wasEnded, let joined = view as? any JoinedView, joined.joinsViews, let base = parts.first,
            Self.beginsAnew(base), let segments = base as? any Sequence
        else { return }
        Self.checkContents(ofSegments: segments, depth: depth + 1)
    }

    private static func checkContents(ofSegments segments: some Sequence, depth: Int) {
        for segment in segments { checkContents(of: segment, depth: depth, wasEnded: true) }
    }

    /// How many sequences may be inside of each other; what is deeper counts as a collection of the library.
    private static let depthLimit = 32

    /// Whether going over a value goes over a collection of the library.
    ///
    /// - Parameters:
    ///   - value: A sequence, an iterator, or a part of one.
    ///   - depth: How many sequences it is inside of.
    /// - Returns: Whether it does, or may.
    private static func reads(_ value: Any, depth: Int = 0) -> Bool {
        guard let value = ValueReader.unwrap(value), !ValueReader.isPlain(value) else { return false }
        if value is any RealmCollection || value is any BackedMap || value is any ShownElements
            || value is any ElementIterator
        {
            return true
        }
        if depth >= depthLimit { return true }
        // What is joined may not be there before: a closure makes it, or an iterator has it.
        if let joined = value as? any JoinedView, joined.joinsViews { return true }
        if let view = value as? any BlindView { return view.parts.contains { reads($0, depth: depth + 1) } }
        guard let view = value as? any SequenceView, let base = view.viewedElements else { return false }
        return reads(base, depth: depth + 1)
    }

    /// Whether going over a value of a type may go over a collection of the library.
    static func mayRead(_ type: Any.Type, depth: Int = 0) -> Bool {
        if type is any RealmCollection.Type || type is any BackedMap.Type || type is any ShownElements.Type
            || type is any ElementIterator.Type
        {
            return true
        }
        guard let view = type as? any SequenceView.Type else { return false }
        guard depth < depthLimit, let viewed = view.viewedTypes else { return true }
        return viewed.contains { mayRead($0, depth: depth + 1) }
    }

    /// Whether the elements of a value are made where it is gone over, as those of a range are, also below views.
    static func makesElements(_ value: Any) -> Bool {
        makesElements(type: Swift.type(of: ElementSource(of: value).elements))
    }

    private static func makesElements(type: Any.Type, depth: Int = 0) -> Bool {
        // An index set holds the bounds of its ranges; it is of a library that this one does without.
        if type is any MadeSequence.Type || type is any SetAlgebra.Type && "\(type)" == "IndexSet" { return true }
        guard depth < depthLimit, let viewed = (type as? any SequenceView.Type)?.viewedTypes else { return false }
        let made = viewed.count { makesElements(type: $0, depth: depth + 1) }
        // The shorter one ends what is paired.
        return type is any PairedView.Type ? made == viewed.count : made > 0
    }

    /// Whether a sequence has the same elements whenever it is gone over, so that it can be gone over before.
    private static func beginsAnew(_ value: Any, depth: Int = 0) -> Bool {
        if value is any Collection || value is any RealmKeyedCollection || value is any NumberSequence { return true }
        // What others join may be iterators.
        if depth >= depthLimit || value is any JoinedView { return false }
        if let view = value as? any AnewView {
            // What is paired with a range without end ends it.
            let parts = view.parts.filter { !($0 is any EndlessSequence) }
            return !parts.isEmpty && parts.allSatisfy { beginsAnew($0, depth: depth + 1) }
        }
        guard !(value is any BlindView), let base = (value as? any SequenceView)?.viewedElements else { return false }
        return beginsAnew(base, depth: depth + 1)
    }

    /// A position as a number; 0 for those of other types.
    static func number(of index: Any) -> Int {
        if let index = index as? Int { return index }
        return (index as? any ReversedPosition)?.number ?? 0
    }
}
