import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Which indexes and rules the processes declare that have a file open.
@Suite("Declared rules", .timeLimit(.minutes(60)))
struct DeclaredRulesTests {
    let directory = TemporaryDirectory()

    /// A process that has the file open.
    private func open() throws -> LockFile {
        let path = directory.path("rules.realm")
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: Data())
        }
        let data = try DataFile.open(path: path, isReadOnly: false)
        return try LockFile(path: path + ".lock", data: data) { _ in (1, 1) }
    }

    @Test("Each process sees what all of them declare, and no more of one that is gone")
    func noted() throws {
        let first = try open()
        var second: LockFile? = try open()
        #expect(first.declaredRules() == .some([]))
        first.declare([1, 2], only: { true })
        second?.declare([2, 3], only: { true })
        second?.declare([4], only: { false })
        #expect(first.declaredRules() == .some([1, 2, 3, 4]))
        #expect(second?.declaredRules() == .some([1, 2, 3, 4]))
        second = nil
        #expect(first.declaredRules() == .some([1, 2]))
        // The next process in its slot.
        let third = try open()
        #expect(third.declaredRules() == .some([1, 2]))
        third.declare([5], only: { true })
        #expect(first.declaredRules() == .some([1, 2, 5]))
    }

    @Test("What is declared alone takes the place of what was declared before")
    func replaced() throws {
        let (first, second) = (try open(), try open())
        first.declare([1, 2, 3], only: { true })
        first.declare([3, 4], only: { true })
        #expect(second.declaredRules() == .some([3, 4]))
        first.declare([], only: { true })
        #expect(second.declaredRules() == .some([]))
    }

    @Test("A process with more rules than have room declares every rule, until it declares fewer")
    func tooMany() throws {
        let (first, second) = (try open(), try open())
        let most = Set((1...UInt64(LockFile.ruleLimit)))
        first.declare(most, only: { true })
        #expect(second.declaredRules() == .some(most))
        first.declare([UInt64.max - 1], only: { false })
        #expect(second.declaredRules() == .every)
        #expect(DeclaredRules.every.contains(7))
        first.declare([7], only: { true })
        #expect(second.declaredRules() == .some([7]))
        // What stands behind the entries of a process are its readers.
        let entry = try first.register(version: 9)
        first.declare(most, only: { true })
        #expect(try second.pinnedVersions() == [9])
        first.unregister(entry)
    }

    @Test("Who declares a rule while another one withdraws some has it noted at once, and goes on when that is done")
    func waits() throws {
        let (first, second) = (try open(), try open())
        for round in 1...50 {
            let withdrawal = first.beginWithdrawing()
            let isOver = Atomic(false)
            let ended = DispatchSemaphore(value: 0)
            let wasOver = Atomic(false)
            Thread.detachNewThread {
                second.declare([UInt64(round)], only: { false })
                wasOver.store(isOver.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
                ended.signal()
            }
            while !first.declaredRules().contains(UInt64(round)) { sched_yield() }
            // What the other one does in an unhurried moment.
            for _ in 0..<10 { sched_yield() }
            isOver.store(true, ordering: .sequentiallyConsistent)
            first.endWithdrawing(withdrawal)
            ended.wait()
            let hasWaited = wasOver.load(ordering: .sequentiallyConsistent)
            #expect(hasWaited, "round \(round)")
        }
    }

    @Test("Who has waited long enough for a withdrawal is told that its rules may go, until that has ended")
    func ranOut() throws {
        let (first, second) = (try open(), try open())
        second.withdrawalNanoseconds = 1_000_000
        let withdrawal = first.beginWithdrawing()
        #expect(!second.declare([1], only: { false }))
        // Also where they are noted already, as by another thread.
        #expect(!second.declare([1], only: { false }))
        #expect(first.declaredRules() == .some([1]))
        // Who relies on none has nothing to lose.
        #expect(second.declare([], only: { false }))
        first.endWithdrawing(withdrawal)
        #expect(second.declare([1], only: { false }))
        #expect(second.declare([2], only: { true }))
    }

    @Test("Nobody waits for a process that died while it withdrew rules, nor for the next one in its slot")
    func deadWithdrawer() throws {
        let first = try open()
        let lock = try #require(FileHandle(forUpdatingAtPath: directory.path("rules.realm.lock")))
        func leave(_ number: UInt32) throws {
            try lock.seek(toOffset: UInt64(LockFileLayout.Word.ruleWithdrawer))
            try withUnsafeBytes(of: number) { try lock.write(contentsOf: $0) }
        }
        // Where they wait, they wait for ten seconds, and each time; where this thread gets no processor for long, it does so once.
        var isInTime = false
        for _ in 0..<10 where !isInTime {
            let slot = try open().processSlot
            let begin = ContinuousClock.now
            // As one leaves it that is killed.
            try leave(UInt32(slot + 1) | 7 << 16)
            #expect(first.isWithdrawing)
            first.declare([1], only: { true })
            #expect(!first.isWithdrawing)
            try leave(UInt32(slot + 1) | 8 << 16)
            let next = try open()
            #expect(next.processSlot == slot)
            first.declare([2], only: { false })
            #expect(!first.isWithdrawing)
            // No process ever has such a slot.
            try leave(0xFFFF)
            first.declare([3], only: { false })
            isInTime = ContinuousClock.now - begin < .seconds(9)
        }
        #expect(isInTime)
    }

    @Test("A withdrawal that ends behind its commit leaves the next one, be it of another process or of the same")
    func twoWithdrawals() throws {
        let (first, second) = (try open(), try open())
        for other in [second, first] {
            let former = first.beginWithdrawing()
            let next = other.beginWithdrawing()
            first.endWithdrawing(former)
            #expect(first.isWithdrawing)
            other.endWithdrawing(next)
            #expect(!first.isWithdrawing)
        }
    }
}
