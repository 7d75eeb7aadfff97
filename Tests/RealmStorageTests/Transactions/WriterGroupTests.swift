import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("The pages of a group of transactions")
struct WriterGroupTests {
    @Test("A run counts as taken when all of its pages were, and only then", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func taken(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let firstPageCount: UInt32 = 300
        let group = WriterGroup(number: 1, firstVersion: 7, firstPageCount: firstPageCount, pinned: [])
        var pages = Set<UInt32>()
        for _ in 0..<120 {
            let extent = random.extent(below: 500)
            guard (extent.page..<extent.end).allSatisfy({ !pages.contains($0) }) else { continue }
            group.take(extent)
            pages.formUnion(extent.page..<extent.end)
            for _ in 0..<20 {
                let run = random.extent(below: 520)
                let expected = (run.page..<run.end).allSatisfy { pages.contains($0) }
                #expect(group.hasTaken(run) == expected, "\(run) of seed \(seed)")
            }
        }
        #expect(!group.hasTaken(Extent(page: pages.min()!, pageCount: .max)), "the end of a run is beyond every page")
    }

    @Test("Whether runs were taken is known without a look at all that were", .timeLimit(.minutes(60)))
    func manyTaken() {
        let group = WriterGroup(number: 1, firstVersion: 7, firstPageCount: .max, pinned: [])
        let count: UInt32 = 200_000
        // In no order, and none of them touches another one.
        for index in 0..<count { group.take(Extent(page: 10 + (index &* 7_919 % count) * 2, pageCount: 1)) }
        var found = 0
        for index in 0..<count where group.hasTaken(Extent(page: 10 + index, pageCount: 1)) { found += 1 }
        #expect(found == Int(count) / 2)
    }

    // MARK: Pages that are sealed in place

    private static func openFile(in directory: TemporaryDirectory) throws -> StorageFile {
        var options = StorageOptions()
        options.durability = .none
        options.invariantWasBroken = { Issue.record("A structure is broken: \($0)") }
        options.invariantScope = .whole
        return try StorageFile.open(path: directory.path("test.realm"), options: options)
    }

    /// The catalog gets entries in a member that commits: so many that its root refers to other pages.
    private static func join(_ keys: Range<UInt64>, in file: StorageFile) throws {
        let member = try file.beginWrite(joining: true)
        for key in keys { try member.catalog.set(key.key, key.key, in: member) }
        try member.join()
    }

    /// Rolls a member back that has changed an entry.
    private static func rollBack(in file: StorageFile) throws {
        let member = try file.beginWrite(joining: true)
        try member.catalog.set(UInt64(5).key, [], in: member)
        member.rollback()
    }

    private static func keys(in file: StorageFile) throws -> [[UInt8]] {
        let snapshot = try file.beginRead()
        return try snapshot.catalog.entries(in: snapshot.view).filter { $0.key == $0.value }.map { $0.key }
    }

    @Test("A member that seals pages of earlier ones, and is rolled back then, takes the group with it")
    func sealedInPart() throws {
        let directory = TemporaryDirectory()
        let file = try Self.openFile(in: directory)
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try Self.join(0..<10, in: file)
        try file.publish([#require(try file.sealGroup())])
        try Self.join(10..<3_000, in: file)
        let member = try file.beginWrite(joining: true)
        try member.catalog.seal(in: member)
        member.rollback()
        let sealed = try file.sealGroup()
        #expect(sealed == nil, "what earlier members left is not what it was")
        if let sealed { try file.publish([sealed]) }
        #expect(try Self.keys(in: file) == (0..<10 as Range<UInt64>).map(\.key))
        try Self.join(10..<20, in: file)
        try file.publish([#require(try file.sealGroup())])
        #expect(try Self.keys(in: file) == (0..<20 as Range<UInt64>).map(\.key))
    }

    @Test("What a member seals of earlier ones is the group's when it commits, and survives a later rollback")
    func sealedAndCommitted() throws {
        let directory = TemporaryDirectory()
        do {
            let file = try Self.openFile(in: directory)
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            try Self.join(0..<3_000, in: file)
            try Self.rollBack(in: file)
            let member = try file.beginWrite(joining: true)
            try member.catalog.seal(in: member)
            try member.join()
            try Self.rollBack(in: file)
            try file.publish([#require(try file.sealGroup())])
        }
        #expect(try Self.keys(in: Self.openFile(in: directory)) == (0..<3_000 as Range<UInt64>).map(\.key))
    }
}

extension SplitMix64 {
    fileprivate mutating func extent(below end: UInt32) -> Extent {
        Extent(page: .random(in: 0..<end, using: &self), pageCount: .random(in: 1...7, using: &self))
    }
}
