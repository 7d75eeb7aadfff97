import Glibc

/// A position in a `ByteTree`.
///
/// The tree must not change while the cursor is in use. The way from the root to the leaf stands inside the value:
/// moving a cursor allocates nothing.
package struct ByteTreeCursor {
    private struct Step {
        var page: KeyedPage
        var child: Int
    }

    private let root: PageReference
    private let view: PageView
    private var steps: InlineArray<16, Step>
    private var depth = 0
    private var leaf: KeyedPage
    private var index = 0
    private var count = 0
    private var buffer: KeyBuffer?

    init(root: PageReference, view: PageView) {
        self.root = root
        self.view = view
        leaf = KeyedPage(view.mapping)
        steps = InlineArray(repeating: Step(page: KeyedPage(view.mapping), child: 0))
    }

    /// Whether the cursor stands on an entry.
    package var isValid: Bool { index < count }

    // MARK: Moving

    /// Moves to the first entry whose key is not below a bound; false when there is none.
    package mutating func seek(_ lowerBound: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        let bound = KeyBytes(lowerBound)
        try descend { $0.childIndex(for: bound) }
        guard depth >= 0 else { return false }
        index = leaf.lowerBound(bound).index
        return index < count ? true : try nextLeaf()
    }

    /// Moves to the last entry whose key is below a bound; false when there is none.
    package mutating func seek(before upperBound: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        let bound = KeyBytes(upperBound)
        try descend { $0.childIndex(for: bound) }
        guard depth >= 0 else { return false }
        index = leaf.lowerBound(bound).index
        return try stepBack()
    }

    /// Moves to the first entry; false when the tree is empty.
    package mutating func seekFirst() throws(StorageError) -> Bool {
        try descend { _ in 0 }
        return index < count
    }

    /// Moves to the last entry; false when the tree is empty.
    package mutating func seekLast() throws(StorageError) -> Bool {
        try descend { $0.count &- 1 }
        index = max(0, count &- 1)
        return count > 0
    }

    /// Moves to the next entry; false at the end, where the cursor stands nowhere.
    package mutating func next() throws(StorageError) -> Bool {
        guard index < count else { return false }
        index &+= 1
        return index < count ? true : try nextLeaf()
    }

    /// Moves to the previous entry; false at the beginning, where the cursor stands nowhere.
    package mutating func previous() throws(StorageError) -> Bool {
        guard index < count else { return false }
        return try stepBack()
    }

    private mutating func stepBack() throws(StorageError) -> Bool {
        if index > 0 {
            index &-= 1
            return true
        }
        return try previousLeaf()
    }

    /// Goes from the root to a leaf; `depth` is -1 afterwards when the tree is empty.
    @inline(__always)
    private mutating func descend(_ choose: (KeyedPage) -> Int) throws(StorageError) {
        index = 0
        count = 0
        depth = -1
        guard !root.isNone else { return }
        let page = try KeyedPage.root(root, in: view)
        depth = 0
        try descend(from: page, choose)
    }

    @inline(__always)
    private mutating func descend(from top: KeyedPage, _ choose: (KeyedPage) -> Int) throws(StorageError) {
        var page = top
        var level = page.level
        while level > 0 {
            level &-= 1
            let child = choose(page)
            steps[depth] = Step(page: page, child: child)
            depth &+= 1
            page = try page.child(at: child, level: level, in: view)
        }
        leaf = page
        index = 0
        count = page.count
    }

    @inline(never)
    private mutating func nextLeaf() throws(StorageError) -> Bool {
        let before = leaf
        count = 0
        while depth > 0 {
            let step = steps[depth &- 1]
            guard step.child &+ 1 < step.page.count else {
                depth &-= 1
                continue
            }
            steps[depth &- 1].child = step.child &+ 1
            let page = try step.page.child(at: step.child &+ 1, level: step.page.level &- 1, in: view)
            try descend(from: page) { _ in 0 }
            try checkOrder(before, leaf)
            return index < count
        }
        return false
    }

    @inline(never)
    private mutating func previousLeaf() throws(StorageError) -> Bool {
        let before = leaf
        count = 0
        while depth > 0 {
            let step = steps[depth &- 1]
            guard step.child > 0 else {
                depth &-= 1
                continue
            }
            steps[depth &- 1].child = step.child &- 1
            let page = try step.page.child(at: step.child &- 1, level: step.page.level &- 1, in: view)
            try descend(from: page) { $0.count &- 1 }
            try checkOrder(leaf, before)
            index = count &- 1
            return count > 0
        }
        return false
    }

    /// Checks that the keys ascend from a leaf to the next one: a leaf that stands in several places would make a walk endless.
    private mutating func checkOrder(_ left: KeyedPage, _ right: KeyedPage) throws(StorageError) {
        guard left.count > 0, right.count > 0 else { return }
        guard left.order(of: left.count &- 1, to: right, 0) < 0 else {
            count = 0
            throw .corrupt("The keys of a byte tree do not ascend", page: right.number)
        }
    }

    // MARK: Reading

    /// The key, valid until the cursor moves or goes away.
    ///
    /// Prefer `hasPrefix`, `isBelow` and `lastEightBytes` in loops: they need not put the key together from the prefix
    /// of its page and its own part.
    package var key: UnsafeRawBufferPointer {
        mutating get {
            precondition(isValid, "The cursor stands on no entry: ask for a key only after a move returned true")
            let suffix = leaf.suffix(at: index)
            guard leaf.prefixLength > 0 else {
                return UnsafeRawBufferPointer(start: suffix.start, count: suffix.count)
            }
            if buffer == nil || !isKnownUniquelyReferenced(&buffer) { buffer = KeyBuffer() }
            guard let bytes = buffer?.bytes else { return UnsafeRawBufferPointer(start: nil, count: 0) }
            return UnsafeRawBufferPointer(start: bytes, count: leaf.copyKey(at: index, to: bytes))
        }
    }

    /// The length of the key in bytes.
    package var keyByteCount: Int {
        precondition(isValid, "The cursor stands on no entry: ask for a key only after a move returned true")
        return leaf.prefixLength &+ leaf.suffix(at: index).count
    }

    /// The last eight bytes of the key as a big-endian number (of a shorter key: its bytes, filled up with zeros in
    /// front).
    package var lastEightBytes: UInt64 {
        precondition(isValid, "The cursor stands on no entry: ask for a key only after a move returned true")
        let suffix = leaf.suffix(at: index)
        if suffix.count >= 8 {
            return UInt64(bigEndian: (suffix.start + (suffix.count &- 8)).loadUnaligned(as: UInt64.self))
        }
        var number: UInt64 = 0
        let prefix = leaf.prefix
        for position in max(0, prefix.count &- (8 &- suffix.count))..<prefix.count {
            number = number &<< 8 | UInt64(prefix.start.load(fromByteOffset: position, as: UInt8.self))
        }
        for position in 0..<suffix.count {
            number = number &<< 8 | UInt64(suffix.start.load(fromByteOffset: position, as: UInt8.self))
        }
        return number
    }

    /// The last eight bytes of the key, as `lastEightBytes`, when it starts with the given bytes; nil when it does not.
    ///
    /// It is mutating so that the cursor, which is large, is not copied to be asked.
    package mutating func lastEightBytes(behind prefix: UnsafeRawBufferPointer) -> UInt64? {
        guard index < count, leaf.key(at: index, startsWith: KeyBytes(prefix)) else { return nil }
        let suffix = leaf.suffix(at: index)
        guard _fastPath(suffix.count >= 8) else { return lastEightBytes }
        return UInt64(bigEndian: (suffix.start + (suffix.count &- 8)).loadUnaligned(as: UInt64.self))
    }

    /// A byte of the key, counted from its end; 0 beyond its start.
    package func byte(fromEnd distance: Int) -> UInt8 {
        let suffix = leaf.suffix(at: index)
        if distance < suffix.count {
            return suffix.start.load(fromByteOffset: suffix.count &- 1 &- distance, as: UInt8.self)
        }
        let prefix = leaf.prefix
        let place = prefix.count &- 1 &- (distance &- suffix.count)
        return place < 0 ? 0 : prefix.start.load(fromByteOffset: place, as: UInt8.self)
    }

    /// Whether the key starts with the given bytes.
    package func hasPrefix(_ prefix: UnsafeRawBufferPointer) -> Bool {
        isValid && leaf.key(at: index, startsWith: KeyBytes(prefix))
    }

    /// Whether the key is below a bound.
    package func isBelow(_ upperBound: UnsafeRawBufferPointer) -> Bool {
        guard isValid else { return false }
        let bound = KeyBytes(upperBound)
        let shared = leaf.prefix
        let order = memcmp(shared.start, bound.start, min(shared.count, bound.count))
        if order != 0 { return order < 0 }
        if bound.count < shared.count { return false }
        return leaf.suffix(at: index).compare(to: bound.dropFirst(shared.count)) < 0
    }

    /// The value, in place, valid as long as the version.
    package var value: UnsafeRawBufferPointer {
        get throws(StorageError) {
            precondition(isValid, "The cursor stands on no entry: ask for a value only after a move returned true")
            return try leaf.value(at: index, in: view)
        }
    }

    /// Where `key` puts keys together.
    private final class KeyBuffer {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: ByteTree.maximumKeyByteCount, alignment: 8)

        deinit {
            bytes.deallocate()
        }
    }
}
