extension ByteTree {
    /// Checks order, counts, levels and every page of the tree, overflow runs included.
    ///
    /// - Throws: `StorageError` with code `corrupt` and the page that is wrong.
    package func verify(in view: PageView) throws(StorageError) {
        guard !root.isNone else { return }
        _ = try ByteTree.verify(
            KeyedPage.root(root, in: view),
            root,
            lower: nil,
            upper: nil,
            in: view
        )
    }

    /// Checks a page and everything below it: keys in `lower ..< upper`; returns the number of entries.
    private static func verify(
        _ page: KeyedPage,
        _ reference: PageReference,
        lower: [UInt8]?,
        upper: [UInt8]?,
        in view: PageView
    ) throws(StorageError) -> Int {
        let bytes = UnsafeRawBufferPointer(start: page.base, count: pageByteCount)
        // A sealed page was validated on its first touch; a dirty one changes all the time.
        if reference.isDirty, let problem = KeyedPage.validate(bytes, allowsDirtyReferences: true) {
            throw .corrupt("A page of a byte tree is wrong: \(problem)", page: reference.page)
        }
        func check(_ condition: Bool, _ what: @autoclosure () -> String) throws(StorageError) {
            if !condition { throw .corrupt("A page of a byte tree is wrong: \(what())", page: reference.page) }
        }
        try check(page.number == reference.page, "it says that it is page \(page.number)")
        let firstKeyed = page.isLeaf ? 0 : 1
        if page.count > firstKeyed {
            let first = key(at: firstKeyed, of: page)
            let last = key(at: page.count - 1, of: page)
            try check(lower.map { !first.lexicographicallyPrecedes($0) } ?? true, "a key is below its separator")
            try check(upper.map { last.lexicographicallyPrecedes($0) } ?? true, "a key is not below the next separator")
        }
        if page.isLeaf {
            for index in 0..<page.count { _ = try page.value(at: index, in: view) }
            return page.count
        }
        var sum = 0
        for index in 0..<page.count {
            let child = try page.child(at: index, level: page.level - 1, in: view)
            let count = try verify(
                child,
                page.childReference(at: index),
                lower: index == 0 ? lower : key(at: index, of: page),
                upper: index + 1 < page.count ? key(at: index + 1, of: page) : upper,
                in: view
            )
            try check(count == page.childCount(at: index), "it counts wrongly below child \(index)")
            sum += count
        }
        return sum
    }

    private static func key(at index: Int, of page: KeyedPage) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: maximumKeyByteCount) { buffer, count in
            if let base = buffer.baseAddress { count = page.copyKey(at: index, to: base) }
        }
    }
}
