import RealmStorage

/// A fixed set of pages with a number each, under one root page: the smallest structure that exercises copy-on-write.
enum PageArray {
    static let count = 200

    static func create(in transaction: WriteTransaction) throws {
        let root = try transaction.allocate(pageCount: 1, kind: .overflow)
        for index in 0..<count {
            let page = try transaction.allocate(pageCount: 1, kind: .overflow)
            page.bytes.storeLittle(UInt32(8), at: PageHeader.payloadByteCountOffset)
            transaction.seal(page.reference).store(to: root.bytes + 64 + index * 16)
        }
        root.bytes.storeLittle(UInt32(64 + count * 16 - 32), at: PageHeader.payloadByteCountOffset)
        transaction.catalog = ByteTree(root: root.reference)
    }

    static func set(_ index: Int, to value: UInt64, in transaction: WriteTransaction) throws {
        let root = try transaction.writable(transaction.catalog.root)
        transaction.catalog = ByteTree(root: root.reference)
        let page = try transaction.writable(PageReference(load: root.bytes + 64 + index * 16))
        page.bytes.storeLittle(value, at: 32)
        transaction.seal(page.reference).store(to: root.bytes + 64 + index * 16)
    }

    private static let ballastOffset = 64 + count * 16

    /// Adds a run that nobody reads, or gives it back with 0 pages.
    static func setBallast(_ pageCount: Int, in transaction: WriteTransaction) throws {
        let root = try transaction.writable(transaction.catalog.root)
        transaction.catalog = ByteTree(root: root.reference)
        transaction.free(PageReference(load: root.bytes + ballastOffset))
        var ballast = PageReference.none
        if pageCount > 0 {
            let run = try transaction.allocate(pageCount: pageCount, kind: .overflow)
            ballast = transaction.seal(run.reference)
        }
        ballast.store(to: root.bytes + ballastOffset)
    }

    /// One step of making the file smaller; nil when nothing is left to do.
    static func shrink(_ file: StorageFile, budget: Int) throws -> PreparedCommit? {
        try file.returnTrailingSpace()
        let transaction = try file.beginWrite()
        var isChanged = false
        if let limit = transaction.relocationLimit {
            var relocation = Relocation(below: limit, in: transaction, pageBudget: budget)
            transaction.setPlacementLimit(limit)
            try transaction.relocateLog(below: limit)
            let old = transaction.catalog.root
            let page = try transaction.view.pointer(to: old)
            for index in 0..<count where !relocation.isExhausted {
                let reference = PageReference(load: page + 64 + index * 16)
                let moved = try relocation.mapped(reference, [])
                if moved == reference { continue }
                let root = try transaction.writable(transaction.catalog.root)
                moved.store(to: root.bytes + 64 + index * 16)
                transaction.catalog = ByteTree(root: transaction.seal(root.reference))
            }
            if transaction.catalog.root == old {
                transaction.catalog = ByteTree(root: try relocation.mapped(old, []))
            }
            isChanged = transaction.catalog.root != old || transaction.writesPicture
        }
        if transaction.trimEnd() > 0 { isChanged = true }
        if isChanged || file.isOlderHeaderLonger { return try transaction.prepareCommit() }
        transaction.setPlacementLimit(nil)
        transaction.rollback()
        return nil
    }

    static func commit(_ transaction: WriteTransaction) throws -> PreparedCommit {
        transaction.catalog = ByteTree(root: transaction.seal(transaction.catalog.root))
        return try transaction.prepareCommit()
    }

    static func values(of root: PageReference, in view: PageView) throws -> [UInt64] {
        let page = try view.pointer(to: root)
        return try (0..<count)
            .map { index in
                try view.pointer(to: PageReference(load: page + 64 + index * 16)).little(UInt64.self, at: 32)
            }
    }

    static func forEachPage(
        in snapshot: Snapshot,
        _ visited: inout VisitedPages,
        _ body: (PageReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        let root = snapshot.catalog.root
        guard !root.isNone, try visited.enter(root, in: snapshot.view) else { return }
        try body(root)
        let page = try snapshot.view.pointer(to: root)
        for index in 0..<count {
            let reference = PageReference(load: page + 64 + index * 16)
            if try visited.enter(reference, in: snapshot.view) { try body(reference) }
        }
        let ballast = PageReference(load: page + ballastOffset)
        if !ballast.isNone, try visited.enter(ballast, in: snapshot.view) { try body(ballast) }
    }

    static func audit(_ snapshot: Snapshot) throws {
        var audit = try SpaceAudit(snapshot)
        try audit.enter(snapshot.catalog.root)
        let page = try snapshot.view.pointer(to: snapshot.catalog.root)
        for index in 0..<count { try audit.enter(PageReference(load: page + 64 + index * 16)) }
        let ballast = PageReference(load: page + ballastOffset)
        if !ballast.isNone { try audit.enter(ballast) }
        try audit.finish()
    }
}
