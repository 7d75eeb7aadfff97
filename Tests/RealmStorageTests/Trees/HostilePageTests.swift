import RealmTestSupport
import Testing

@testable import RealmStorage

/// An edited page with the right checksum must be refused, or be harmless however it is used.
@Suite struct HostilePageTests {
    /// Copies of all pages of trees with every kind of entry.
    private static func pages() throws -> [[UInt8]] {
        var random = SplitMix64(seed: 11)
        let store = try TreeFile()
        var pages: [[UInt8]] = []
        var sequence = SequenceTree()
        let snapshot = try store.write { transaction in
            for number in 0..<900 as Range<UInt64> {
                let key = [UInt8](repeating: 3, count: Int(number % 3) * 20) + number.key
                let value = random.bytes([0, 8, 8, 100, 512, 2000].randomElement(using: &random) ?? 0)
                try transaction.catalog.set(key, value, in: transaction)
                try sequence.insert(value, Int.random(in: 0...Int(number), using: &random), in: transaction)
            }
            try sequence.seal(in: transaction)
        }
        func copy(_ reference: PageReference) throws(StorageError) {
            guard reference.pageCount == 1 else { return }
            let bytes = try snapshot.view.pointer(to: reference)
            pages.append([UInt8](UnsafeRawBufferPointer(start: bytes, count: pageByteCount)))
        }
        try snapshot.catalog.forEachPage(in: snapshot.view) { reference throws(StorageError) in try copy(reference) }
        try sequence.forEachPage(in: snapshot.view) { reference throws(StorageError) in try copy(reference) }
        return pages
    }

    @Test func `entries that overlap are refused, whatever their lengths come to`() throws {
        let store = try TreeFile()
        try store.write { transaction in
            let page = try transaction.allocate(pageCount: 1, kind: .byteTreeLeaf)
            let leaf = MutableKeyedPage(page.bytes)
            leaf.reset(prefix: KeyBytes(start: page.bytes, count: 0))
            // Two entries of 43 bytes in a heap of 86, the second one inside of the first one's value.
            for (index, offset) in [4_010, 4_020].enumerated() {
                page.bytes.storeBytes(of: UInt8(97 + index), toByteOffset: offset, as: UInt8.self)
                PageBytes.store16(40, page.bytes, offset + 1)
                let key = KeyBytes(start: page.bytes + offset, count: 1)
                leaf.setSlot(KeyedPage.slot(offset: offset, suffix: key), at: index)
            }
            leaf.setCount(2)
            PageBytes.store16(4_010, page.bytes, KeyedPage.heapStartOffset)
            transaction.catalog = ByteTree(root: transaction.seal(page.reference))
        }
        let snapshot = try store.reopen()
        let failure = #expect(throws: StorageError.self) { try snapshot.catalog.get([98], in: snapshot.view) }
        #expect(failure?.message.contains("entry 1 overlaps another one") == true)
    }

    /// A leaf of a sequence with slots as they are given, everything else right.
    private static func sequenceLeaf(_ slots: [(offset: Int, tag: Int)], heapStart: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: pageByteCount)
        bytes.withUnsafeMutableBytes { buffer in
            let base = buffer.baseAddress!
            base.storeBytes(of: PageKind.sequenceLeaf.rawValue, toByteOffset: PageHeader.kindOffset, as: UInt8.self)
            PageBytes.store16(slots.count, base, PageHeader.entryCountOffset)
            PageBytes.store16(heapStart, base, KeyedPage.heapStartOffset)
            let used = slots.reduce(0) { $0 + $1.tag }
            PageBytes.store16(pageByteCount - heapStart - used, base, KeyedPage.garbageOffset)
            for (index, slot) in slots.enumerated() {
                PageBytes.store16(slot.offset, base, SequenceLeaf.slotOffset(index))
                PageBytes.store16(slot.tag, base, SequenceLeaf.slotOffset(index) + 2)
            }
        }
        return bytes
    }

    @Test func `elements that share bytes, or are empty elsewhere than at the end, are refused`() {
        func problem(_ slots: [(offset: Int, tag: Int)], heapStart: Int) -> String? {
            Self.sequenceLeaf(slots, heapStart: heapStart).withUnsafeBytes { SequencePage.validate($0) }
        }
        #expect(problem([(4_000, 50), (4_050, 40), (4_096, 0)], heapStart: 4_000) == nil)
        // Who writes over the one changes the other, which may be a reference.
        #expect(problem([(4_000, 50), (4_040, 40)], heapStart: 4_000) == "element 1 overlaps another one")
        // The heap ends behind the first element when that goes, and the second one lies outside of it.
        #expect(problem([(4_000, 50), (4_000, 0)], heapStart: 4_000) == "element 1 is empty in the midst of the heap")
    }

    @Test func `an edited page is refused or stays within its bounds`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let pages = try Self.pages()
        let guarded = GuardedPage()
        let target = GuardedPage()
        var refused = 0
        for page in pages {
            guarded.bytes.copyMemory(from: page, byteCount: pageByteCount)
            #expect(PageValidator.reason(guarded.buffer) == nil)
        }
        for _ in 0..<6000 {
            let page = pages[Int.random(in: 0..<pages.count, using: &random)]
            guarded.bytes.copyMemory(from: page, byteCount: pageByteCount)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                // Half of the edits hit the header and the first slots, where they hurt most.
                let limit = Bool.random(using: &random) ? 80 : pageByteCount
                let offset = Int.random(in: 16..<limit, using: &random)
                let small = UInt8.random(in: 0...2, using: &random)
                let value = Bool.random(using: &random) ? UInt8.random(in: 0...255, using: &random) : small
                guarded.bytes.storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
            }
            guard PageValidator.reason(guarded.buffer) == nil else {
                refused += 1
                continue
            }
            switch PageKind(rawValue: guarded.buffer[PageHeader.kindOffset]) {
            case .byteTreeLeaf, .byteTreeInner: Self.exercise(guarded, rewritingTo: target, &random)
            case .sequenceLeaf: Self.exerciseLeaf(guarded, movingTo: target, &random)
            case .sequenceInner:
                let inner = SequenceInner(guarded.bytes)
                for _ in 0..<20 {
                    let child = inner.child(containing: Int.random(in: 0..<2000, using: &random))
                    #expect((0..<inner.count).contains(child), "seed \(seed)")
                }
            default: break
            }
        }
        #expect(refused > 500, "the edits were not refused often enough to mean anything")
    }

    private static func exercise(
        _ guarded: GuardedPage,
        rewritingTo target: GuardedPage,
        _ random: inout SplitMix64
    ) {
        let page = KeyedPage(guarded.bytes)
        var sum = 0
        for index in 0..<page.count {
            page.suffix(at: index).use(&sum)
            let payload = page.payload(at: index)
            KeyBytes(start: payload, count: page.payloadByteCount(payload)).use(&sum)
        }
        page.prefix.use(&sum)
        for _ in 0..<10 {
            let key = random.bytes(Int.random(in: 0...30, using: &random))
            key.withUnsafeBytes { key in
                #expect((0...page.count).contains(page.lowerBound(KeyBytes(key)).index))
                if !page.isLeaf { #expect((0..<page.count).contains(page.childIndex(for: KeyBytes(key)))) }
            }
        }
        var list = KeyedEntryList(isLeaf: page.isLeaf)
        list.append(page)
        target.bytes.copyMemory(from: guarded.bytes, byteCount: pageByteCount)
        if list.byteCount(of: 0..<list.count) <= pageByteCount {
            list.write(0..<list.count, to: MutableKeyedPage(target.bytes))
        } else {
            Issue.record("a page that was found right does not fit a page")
        }
        let mutable = MutableKeyedPage(guarded.bytes)
        while mutable.page.count > 0 {
            mutable.remove(at: Int.random(in: 0..<mutable.page.count, using: &random))
            let key = [UInt8](repeating: 3, count: 4)
            key.withUnsafeBytes {
                let payload = mutable.reserve(at: mutable.page.count, suffix: KeyBytes($0), payloadByteCount: 24)
                if let payload { PageBytes.store16(22, payload, 0) }
            }
            if mutable.page.count > 0 { mutable.remove(at: mutable.page.count - 1) }
        }
        // Reading beyond the page ends the process: what was read has to be used.
        withExtendedLifetime(sum) {}
    }

    private static func exerciseLeaf(
        _ guarded: GuardedPage,
        movingTo target: GuardedPage,
        _ random: inout SplitMix64
    ) {
        let leaf = SequenceLeaf(guarded.bytes)
        var sum = 0
        for index in 0..<leaf.count {
            KeyBytes(start: leaf.base + leaf.offset(at: index), count: leaf.storedByteCount(at: index)).use(&sum)
        }
        let mutable = MutableSequenceLeaf(guarded.bytes)
        if leaf.count > 1 { mutable.move(from: mutable.middle, to: MutableSequenceLeaf(target.bytes)) }
        while mutable.page.count > 0 { mutable.remove(at: Int.random(in: 0..<leaf.count, using: &random)) }
        // Reading beyond the page ends the process: what was read has to be used.
        withExtendedLifetime(sum) {}
    }

    // MARK: Descents

    /// Commits a tree whose root is an edited copy of the real one.
    private static func commit(
        _ store: TreeFile,
        editing edit: (UnsafeMutableRawPointer, PageReference) throws -> Void
    ) throws -> Snapshot {
        try store.write { transaction in
            let root = try transaction.writable(transaction.catalog.root)
            try edit(root.bytes, root.reference)
            transaction.catalog = ByteTree(root: transaction.seal(root.reference))
        }
        return try store.reopen()
    }

    private static func deepTree() throws -> TreeFile {
        let store = try TreeFile()
        try store.write { transaction in
            for number in 0..<600 as Range<UInt64> {
                try transaction.catalog.set(number.key, [UInt8](repeating: 1, count: 60), in: transaction)
            }
        }
        return store
    }

    private static func isCorrupt(_ error: any Error) -> Bool {
        (error as? StorageError)?.code == .corrupt && (error as? StorageError)?.page != nil
    }

    @Test func `a child of another level is an error that names the page`() throws {
        let store = try Self.deepTree()
        let snapshot = try Self.commit(store) { root, _ in
            root.storeBytes(of: 2, toByteOffset: PageHeader.levelOffset, as: UInt8.self)
        }
        #expect(throws: (any Error).self) { try snapshot.catalog.get(UInt64(3).key, in: snapshot.view) }
        #expect { try snapshot.catalog.verify(in: snapshot.view) } throws: { Self.isCorrupt($0) }
        #expect { try snapshot.catalog.entries(in: snapshot.view) } throws: { Self.isCorrupt($0) }
        let transaction = try store.file.beginWrite()
        #expect { try transaction.catalog.set([1], [1], in: transaction) } throws: { Self.isCorrupt($0) }
        transaction.rollback()
    }

    @Test func `a child reference without a checksum, of two pages or to a header page is refused`() throws {
        let edits: [(inout PageReference) -> Void] = [
            { $0.checksum = 0 }, { $0.pageCount = 2 }, { $0.page = 1 }, { $0.page = .max },
        ]
        for edit in edits {
            let store = try Self.deepTree()
            let snapshot = try Self.commit(store) { root, _ in
                let page = MutableKeyedPage(root)
                var child = page.page.childReference(at: 1)
                edit(&child)
                page.setChildReference(child, at: 1)
            }
            #expect { _ = try snapshot.catalog.entries(in: snapshot.view) } throws: { Self.isCorrupt($0) }
        }
    }

    @Test func `children in the wrong order are found by verification`() throws {
        let store = try Self.deepTree()
        let snapshot = try Self.commit(store) { root, _ in
            let page = MutableKeyedPage(root)
            let (first, second) = (page.page.childReference(at: 1), page.page.childReference(at: 2))
            page.setChildReference(second, at: 1)
            page.setChildReference(first, at: 2)
        }
        #expect { try snapshot.catalog.verify(in: snapshot.view) } throws: { Self.isCorrupt($0) }
    }

    @Test func `a wrong count is found by verification`() throws {
        let store = try Self.deepTree()
        let snapshot = try Self.commit(store) { root, _ in try MutableKeyedPage(root).setChildCount(7, at: 1) }
        #expect { try snapshot.catalog.verify(in: snapshot.view) } throws: { Self.isCorrupt($0) }
    }

    @Test func `a tree of one kind is not taken for one of another`() throws {
        let store = try Self.deepTree()
        let snapshot = try store.file.beginRead()
        let wrong = SequenceTree(root: snapshot.catalog.root)
        #expect { try wrong.count(in: snapshot.view) } throws: { Self.isCorrupt($0) }
        #expect { try Overflow.read(snapshot.catalog.root, in: snapshot.view) } throws: { Self.isCorrupt($0) }
        let sequence = try store.write { transaction in
            var tree = SequenceTree()
            try tree.insert([1], 0, in: transaction)
            try tree.seal(in: transaction)
            try transaction.catalog.removeAll(in: transaction)
            transaction.catalog = ByteTree(root: tree.root)
        }
        #expect { try sequence.catalog.get([1], in: sequence.view) } throws: { Self.isCorrupt($0) }
    }

    @Test func `a sequence whose parent counts wrongly is refused`() throws {
        let store = try TreeFile()
        let snapshot = try store.write { transaction in
            var tree = SequenceTree()
            for number in 0..<1000 as Range<UInt64> { try tree.insert(number.key, Int(number), in: transaction) }
            try tree.seal(in: transaction)
            let root = try transaction.writable(tree.root)
            MutableSequenceInner(root.bytes).truncate(0, to: 5)
            transaction.catalog = ByteTree(root: transaction.seal(root.reference))
        }
        let tree = SequenceTree(root: snapshot.catalog.root)
        #expect { try tree.element(at: 0, in: snapshot.view) } throws: { Self.isCorrupt($0) }
        #expect { try tree.verify(in: snapshot.view) } throws: { Self.isCorrupt($0) }
    }
}

extension KeyBytes {
    /// Reads every byte.
    fileprivate func use(_ sum: inout Int) {
        for offset in 0..<count { sum &+= Int(start.load(fromByteOffset: offset, as: UInt8.self)) }
    }
}
