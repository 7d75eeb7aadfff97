import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// How long a file is made for commits, and what its device has left for that.
extension OwedSpaceTests {
    @Test("What was acknowledged has its pages made where these fit, though the file cannot grow by a whole step")
    func exactGrowth() throws {
        let control = TightDevice.Control()
        let file = try open { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(3, in: file))
        let last = try Owed.member(file, 9, 9)
        // As where the estimate is too low: nothing is secured for it.
        try fill(last)
        let end = (last.pageCount + 16) * pageByteCount
        control.refused = end..<(1 << 40)
        try file.publish([PageArray.commit(last)])
        #expect(!file.hasStopped)
        #expect(file.byteCount <= end)
        #expect(try values(of: file) == Owed.model(3, more: [9: 9]))
    }

    @Test("A commit alone has the file made as long as it needs, where it cannot grow by a whole step")
    func exactGrowthAlone() throws {
        let control = TightDevice.Control()
        let file = try open { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        let last = try Owed.member(file, 9, 9)
        try fill(last)
        let end = (last.pageCount + 16) * pageByteCount
        control.refused = end..<(1 << 40)
        try file.publish([PageArray.commit(last)])
        #expect(file.byteCount <= end)
        #expect(try values(of: file) == Owed.model(0, more: [9: 9]))
    }

    @Test("A commit that needs more has the file made as long as that, where it cannot grow by a whole step")
    func exactSecuring() throws {
        let control = TightDevice.Control()
        let file = try open { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(3, in: file))
        let last = try Owed.member(file, 9, 9)
        try fill(last)
        let end = LoggedCommit(of: last).owedSpace.needed * pageByteCount
        control.refused = end..<(1 << 40)
        try LoggedCommit(of: last).secureSpace()
        #expect(file.byteCount == end)
        try file.publish([PageArray.commit(last)])
        #expect(try values(of: file) == Owed.model(3, more: [9: 9]))
    }

    @Test("A log is applied by an opening where its pages fit, though the file cannot grow by a whole step")
    func exactOpening() throws {
        let control = TightDevice.Control()
        let copy: String
        do {
            let file = try open { $0 }
            defer { file.unlockForWriting() }
            // Its header is in a slot, and the records stand behind that.
            try file.publish([LoggedFile.prepare(.init(values: [(0, 1)]), in: file, recorded: false)])
            #expect(try Owed.acknowledge(12, in: file))
            copy = try LoggedFile.copy(of: folder.path("a.realm"), in: folder)
            let end = Int(file.state.withLock { $0.published.pageCount }) * pageByteCount
            try DataFile.open(path: copy, isReadOnly: false).setByteCount(end)
            control.refused = (end + 48 * pageByteCount)..<(1 << 40)
        }
        var options = Owed.options()
        options.makeDevice = { TightDevice($0, control) }
        let file = try StorageFile.open(path: copy, options: options)
        #expect(try LoggedFile.values(of: file).values == Owed.model(12))
    }

    @Test("No zeros fill a disk that says that it has less than a step left, and half of that stays free")
    func askedFirst() throws {
        let control = TightDevice.Control()
        let file = try open(hasLongLog: true) { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        let member = try Owed.member(file, 1, 7)
        try fill(member)
        let end = file.byteCount
        control.freeByteCount = 64 * pageByteCount
        control.refused = (end + 64 * pageByteCount)..<(1 << 40)
        // Ahead of need it is not made longer at all.
        #expect(!LoggedCommit(of: member).mayOwePages)
        #expect(file.byteCount == end)
        try file.publish([PageArray.commit(member)])
        #expect(control.refusedCount == 0)
        #expect(file.byteCount > end && file.byteCount <= end + 32 * pageByteCount)
        #expect(try values(of: file) == Owed.model(0, more: [1: 7]))
    }

    @Test("On a disk that is nearly full and does not say so steps get smaller, and few are refused")
    func smallerSteps() throws {
        let control = TightDevice.Control()
        let file = try open(hasLongLog: true) { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        // A step is longer than what is left.
        let ballast = try file.beginWrite()
        try PageArray.setBallast(900, in: ballast)
        try file.publish([PageArray.commit(ballast)])
        let first = try Owed.member(file, 1, 0)
        try fill(first)
        control.refused = (file.byteCount + 300 * pageByteCount)..<(1 << 40)
        try file.publish([PageArray.commit(first)])
        for value in UInt64(1)...20 {
            let member = try Owed.member(file, 1, value)
            for _ in 0..<2 { _ = member.seal(try allocate(in: member)) }
            if LoggedCommit(of: member).mayOwePages {
                #expect(try LoggedCommit(of: member).acknowledge())
                try file.publish([#require(try file.sealGroup())])
            } else {
                try file.publish([PageArray.commit(member)])
            }
        }
        // 2 or 3; about two for each commit where each tries it whole.
        #expect(control.refusedCount > 0 && control.refusedCount < 8)
        #expect(try values(of: file) == Owed.model(0, more: [1: 20]))
    }

    @Test("Nothing is owed on a device that has little space left, until it has more")
    func littleSpace() throws {
        let control = TightDevice.Control()
        let file = try open(hasLongLog: true) { TightDevice($0, control) }
        defer { file.unlockForWriting() }
        let little = 16 * StorageFile.growthStep(byteCount: file.byteCount) - 1
        control.freeByteCount = little
        for _ in 0..<2 { #expect(try !Owed.acknowledge(1, in: file)) }
        control.freeByteCount = 1 << 40
        #expect(try Owed.acknowledge(1, in: file))
        // It is not asked at each group, and never in the midst of one.
        control.freeByteCount = little
        #expect(try Owed.acknowledge(file, 2, 101))
        try file.publish([#require(try file.sealGroup())])
        #expect(try Owed.acknowledge(file, 3, 102))
        #expect(try LoggedFile.valuesOfCopy(of: folder.path("a.realm"), in: folder) == Owed.model(3))
        var count = 0
        while count < 100, try Owed.acknowledge(file, 3, 102) {
            try file.publish([#require(try file.sealGroup())])
            count += 1
        }
        #expect(count > 10 && count < 100)
        #expect(try LoggedFile.values(of: file).values == Owed.model(3))
    }

    /// How often a file was flushed.
    private final class FlushCounter: Sendable {
        private let state = Mutex(0)

        var count: Int { state.withLock { $0 } }

        func add() { state.withLock { $0 += 1 } }
    }

    private struct CountingDevice: ForwardingDevice {
        let base: any StorageDevice
        let counter: FlushCounter

        func synchronize() throws(StorageError) {
            counter.add()
            try base.synchronize()
        }
    }

    @Test("A file that grows is not made longer, and flushed, for each group")
    func growthFlushes() throws {
        let counter = FlushCounter()
        let file = try open(hasLongLog: true) { CountingDevice(base: $0, counter: counter) }
        defer { file.unlockForWriting() }
        let before = counter.count
        for index in 1...20 {
            let member = try Owed.member(file, index, UInt64(index))
            for _ in 0..<20 { _ = member.seal(try allocate(in: member)) }
            try #require(LoggedCommit(of: member).mayOwePages)
            #expect(try LoggedCommit(of: member).acknowledge())
            try file.publish([#require(try file.sealGroup())])
        }
        // About 7; 20 where each group flushes.
        #expect(counter.count - before < 14)
    }

    @Test("A file that could not be made longer for what is to be owed is let alone until its length is another one")
    func refusedGrowth() throws {
        let isFull = FullDevice.Switch()
        let file = try open(hasLongLog: true) { FullDevice($0, isFull) }
        defer { file.unlockForWriting() }
        let member = try Owed.member(file, 1, 100)
        try fill(member)
        isFull.isOn = true
        for _ in 0..<5 { #expect(!LoggedCommit(of: member).mayOwePages) }
        #expect(isFull.refused == 1)
        isFull.isOn = false
        #expect(!LoggedCommit(of: member).mayOwePages)
        // It makes the file longer.
        try file.publish([PageArray.commit(member)])
        let next = try Owed.member(file, 2, 101)
        try fill(next)
        #expect(LoggedCommit(of: next).mayOwePages)
        next.rollback()
    }
}
