import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct WriteTransactionTests {
    let directory = TemporaryDirectory()

    private func makeFile(_ name: String = "a.realm") throws -> StorageFile {
        let file = try StorageFile.open(path: directory.path(name))
        #expect(try file.tryLockForWriting())
        let transaction = try file.beginWrite()
        try PageArray.create(in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        return file
    }

    @Test func `a new file stands at version 1 and is empty`() throws {
        let file = try StorageFile.open(path: directory.path("new.realm"))
        let snapshot = try file.beginRead()
        #expect(snapshot.version == 1)
        #expect(snapshot.catalog.root.isNone)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
    }

    @Test func `what was committed is there after the file was closed`() throws {
        do {
            let file = try makeFile()
            let transaction = try file.beginWrite()
            try PageArray.set(7, to: 77, in: transaction)
            try file.publish([try PageArray.commit(transaction)])
            file.unlockForWriting()
        }
        let snapshot = try StorageFile.open(path: directory.path("a.realm")).beginRead()
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[7] == 77)
        #expect(snapshot.version == 3)
        try PageArray.audit(snapshot)
    }

    @Test func `a transaction that is rolled back leaves no trace and no lost page`() throws {
        let file = try makeFile()
        for round in 0..<5 {
            let transaction = try file.beginWrite()
            for index in 0..<100 { try PageArray.set(index, to: UInt64(round), in: transaction) }
            transaction.rollback()
        }
        let transaction = try file.beginWrite()
        try PageArray.set(0, to: 9, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        let snapshot = try file.beginRead()
        let values = try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
        #expect(values == [9] + [UInt64](repeating: 0, count: PageArray.count - 1))
        try PageArray.audit(snapshot)
    }

    @Test func `what a transaction writes early is read back, replaced, and gone after a rollback`() throws {
        let file = try makeFile()
        var model = [UInt64](repeating: 0, count: PageArray.count)
        let old = try file.beginRead()
        for round in 1...6 {
            let transaction = try file.beginWrite()
            var next = model
            for index in 0..<150 {
                next[(index * 7) % 200] = UInt64(round * 1000 + index)
                try PageArray.set((index * 7) % 200, to: next[(index * 7) % 200], in: transaction)
                if index % 40 == 39 { try transaction.spill() }
                // Its pages are its own still, in the file or in memory.
                #expect(try PageArray.values(of: transaction.catalog.root, in: transaction.view) == next)
            }
            if round % 2 == 0 {
                transaction.rollback()
            } else {
                try file.publish([try PageArray.commit(transaction)])
                model = next
            }
            let snapshot = try file.beginRead()
            #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view) == model)
            #expect(try PageArray.values(of: old.catalog.root, in: old.view) == [UInt64](repeating: 0, count: 200))
            try PageArray.audit(snapshot)
        }
    }

    @Test func `pages that a transaction wrote early and gave up are used again by it`() throws {
        let file = try makeFile()
        let transaction = try file.beginWrite()
        for round in 0..<50 {
            for index in 0..<20 { try PageArray.set(index, to: UInt64(round), in: transaction) }
            try transaction.spill()
        }
        try file.publish([try PageArray.commit(transaction)])
        let snapshot = try file.beginRead()
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view).prefix(20).allSatisfy { $0 == 49 })
        try PageArray.audit(snapshot)
        #expect(file.byteCount < 2 << 20)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `members of a group share pages, and a rollback puts back what the others wrote`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let file = try makeFile("members-\(seed).realm")
        var model = [UInt64](repeating: 0, count: PageArray.count)
        var pinned: [(Snapshot, [UInt64])] = []
        for step in 0..<200 {
            let before = model
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let transaction = try file.beginWrite(joining: true)
                var next = model
                for _ in 0..<Int.random(in: 0...12, using: &random) {
                    let index = Int.random(in: 0..<PageArray.count, using: &random)
                    next[index] = random.next()
                    try PageArray.set(index, to: next[index], in: transaction)
                }
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let pageCount = Int.random(in: 1...3, using: &random)
                    let run = try transaction.allocate(pageCount: pageCount, kind: .overflow)
                    transaction.free(run.reference)
                }
                #expect(try PageArray.values(of: transaction.catalog.root, in: transaction.view) == next)
                if Int.random(in: 0..<3, using: &random) == 0 {
                    transaction.rollback()
                } else {
                    try transaction.join()
                    model = next
                }
            }
            if Int.random(in: 0..<2, using: &random) == 0 {
                let transaction = try file.beginWrite(joining: true)
                #expect(try PageArray.values(of: transaction.catalog.root, in: transaction.view) == model)
                try file.publish([try PageArray.commit(transaction)])
            } else if model != before || file.newestVersion == 0 {
                let transaction = try file.beginWrite(joining: true)
                transaction.catalog = ByteTree(root: transaction.seal(transaction.catalog.root))
                try transaction.join()
                if let prepared = try file.sealGroup() { try file.publish([prepared]) }
            } else if let prepared = try file.sealGroup() {
                try file.publish([prepared])
            }
            if Int.random(in: 0..<6, using: &random) == 0 { pinned.append((try file.beginRead(), model)) }
            if pinned.count > 5 { pinned.remove(at: Int.random(in: 0..<pinned.count, using: &random)) }
            if step % 20 == 0 {
                for (snapshot, expected) in pinned {
                    #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view) == expected)
                }
                try PageArray.audit(try file.beginRead())
            }
        }
        let snapshot = try file.beginRead()
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view) == model)
        try PageArray.audit(snapshot)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `snapshots keep their content and every page is used or free, whatever is committed and pinned`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        var file: StorageFile! = try makeFile("random-\(seed).realm")
        var model = [UInt64](repeating: 0, count: PageArray.count)
        var pinned: [(Snapshot, [UInt64])] = []
        for step in 0..<400 {
            var group: [PreparedCommit] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let transaction = try file.beginWrite()
                var next = model
                for _ in 0..<Int.random(in: 0...12, using: &random) {
                    let index = Int.random(in: 0..<PageArray.count, using: &random)
                    next[index] = random.next()
                    try PageArray.set(index, to: next[index], in: transaction)
                }
                #expect(try PageArray.values(of: transaction.catalog.root, in: transaction.view) == next)
                if Int.random(in: 0..<8, using: &random) == 0 {
                    transaction.rollback()
                } else {
                    group.append(try PageArray.commit(transaction))
                    model = next
                }
            }
            try file.publish(group)
            if Int.random(in: 0..<6, using: &random) == 0 { pinned.append((try file.beginRead(), model)) }
            if pinned.count > 5 { pinned.remove(at: Int.random(in: 0..<pinned.count, using: &random)) }
            if step % 20 == 0 {
                for (snapshot, expected) in pinned {
                    #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view) == expected)
                }
                try PageArray.audit(try file.beginRead())
            }
            if Int.random(in: 0..<50, using: &random) == 0 {
                pinned = []
                file.unlockForWriting()
                file = nil
                file = try StorageFile.open(path: directory.path("random-\(seed).realm"))
                #expect(try file.tryLockForWriting())
            }
        }
        let snapshot = try file.beginRead()
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view) == model)
        pinned = []
        for _ in 0..<3 {
            let transaction = try file.beginWrite()
            try PageArray.set(0, to: 1, in: transaction)
            try file.publish([try PageArray.commit(transaction)])
        }
        #expect(file.byteCount < 8 << 20, "400 commits of a few pages must reuse space: \(file.byteCount) bytes")
    }

    @Test func `a snapshot held for long pins its own pages and nothing else`() throws {
        let file = try makeFile()
        let held = try file.beginRead()
        for round in 0..<1500 {
            let transaction = try file.beginWrite()
            for index in 0..<4 { try PageArray.set((round * 4 + index) % 20, to: UInt64(round), in: transaction) }
            try file.publish([try PageArray.commit(transaction)])
        }
        #expect(try PageArray.values(of: held.catalog.root, in: held.view).allSatisfy { $0 == 0 })
        // 200 pages of data, 21 pinned twice, the log of 1,500 versions in pictures.
        #expect(file.byteCount < 4 << 20, "\(file.byteCount) bytes")
        try PageArray.audit(try file.beginRead())
    }

    @Test func `prepared commits that share a flush are all there, and nobody sees them before it`() throws {
        let file = try makeFile()
        let before = file.newestVersion
        var commits: [PreparedCommit] = []
        for index in 0..<10 {
            let transaction = try file.beginWrite()
            try PageArray.set(index, to: 5, in: transaction)
            commits.append(try PageArray.commit(transaction))
            #expect(try file.beginRead().version == before)
        }
        try file.publish(commits)
        let snapshot = try file.beginRead()
        #expect(snapshot.version == before + 10)
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view).filter { $0 == 5 }.count == 10)
    }

    @Test func `opening the same file twice gives the same instance, by another name too`() throws {
        let first = try StorageFile.open(path: directory.path("one.realm"))
        try FileManager.default.linkItem(atPath: directory.path("one.realm"), toPath: directory.path("two.realm"))
        #expect(try StorageFile.open(path: directory.path("two.realm")) === first)
    }
}
