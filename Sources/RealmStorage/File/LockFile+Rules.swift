import Atomics
import CRealmShims
import Glibc
import Synchronization

/// The indexes and rules that the processes declare, so that none goes from the file while somebody relies on it.
///
/// A process notes what it declares before it looks whether another one withdraws rules, and looks at the file behind that. Who withdraws
/// some, as the holder of the write lock, says so before looking at what is declared. So at least one of them sees the other.
extension LockFile {
    private typealias Layout = LockFileLayout

    /// What this process has noted.
    struct Rules {
        var all: Set<UInt64> = []
        /// The entries below have room in the file.
        var roomEnd = 0
        /// Whether they have no room, so that every rule is declared.
        var isEvery = false
        var withdrawalCount: UInt16 = 0
    }

    /// So many rules of a process have room; one that declares more declares every rule.
    static let ruleLimit = (Layout.Area.readers - Layout.Area.rules) / 8
    /// The entries that room is made for at once.
    private static let ruleStep = 512
    private static let everyRule = UInt64.max

    private var ruleCount: UnsafeAtomic<UInt64> { LockFileMemory.word64(ownArea + Layout.Area.ruleCount) }

    /// Notes rules for all processes, and waits for whoever withdraws some without knowing of that.
    ///
    /// Those that the file has then stay until the process closes it, or declares others instead.
    ///
    /// - Parameters:
    ///   - rules: The numbers of the rules.
    ///   - isOnly: Asked whether nothing else is declared in this process any more; nothing is noted meanwhile.
    /// - Returns: Whether those that the file has stay; false where a withdrawal did not end in time: some of them may go with its commit,
    ///   and who has had the write lock since knows.
    @discardableResult
    func declare(_ rules: Set<UInt64>, only isOnly: () -> Bool) -> Bool {
        if !isOwn { return true }
        note(rules, only: isOnly)
        // Also where another thread has noted them: it may be waiting itself.
        return rules.isEmpty || waitForWithdrawal()
    }

    /// Whether this process has noted rules, and not put others in their place since.
    func hasDeclared(_ rules: Set<UInt64>) -> Bool {
        !isOwn || self.rules.withLock { $0.isEvery || rules.isSubset(of: $0.all) }
    }

    private func note(_ rules: Set<UInt64>, only isOnly: () -> Bool) {
        self.rules.withLock { noted in
            if isOnly(), noted.isEvery || !noted.all.isSubset(of: rules) {
                ruleCount.store(0, ordering: .sequentiallyConsistent)
                noted.all = []
                noted.isEvery = false
            }
            if noted.isEvery { return }
            let added = rules.subtracting(noted.all)
            if added.isEmpty { return }
            let count = noted.all.count
            guard count + added.count <= LockFile.ruleLimit, write(Array(added), behind: count, &noted) else {
                noted.isEvery = true
                return ruleCount.store(LockFile.everyRule, ordering: .sequentiallyConsistent)
            }
            noted.all.formUnion(added)
            ruleCount.store(UInt64(count + added.count), ordering: .sequentiallyConsistent)
        }
    }

    /// Writes entries behind a number of them: those that have room into it, and the others with their room, so that no store meets a full
    /// disk; false when that is full.
    private func write(_ rules: [UInt64], behind count: Int, _ noted: inout Rules) -> Bool {
        let room = max(noted.roomEnd - count, 0)
        for (index, rule) in rules.prefix(room).enumerated() {
            LockFile.rule(count + index, in: ownArea).store(rule, ordering: .relaxed)
        }
        if rules.count <= room { return true }
        let steps = (count + rules.count + LockFile.ruleStep - 1) / LockFile.ruleStep
        let end = min(steps * LockFile.ruleStep, LockFile.ruleLimit)
        var bytes = [UInt8](repeating: 0, count: (end - noted.roomEnd) * 8)
        bytes.withUnsafeMutableBytes { bytes in
            for (index, rule) in rules.dropFirst(room).enumerated() {
                let place = count + room + index - noted.roomEnd
                bytes.storeBytes(of: rule.littleEndian, toByteOffset: place * 8, as: UInt64.self)
            }
        }
        let begin = Layout.area(processSlot) + Layout.Area.rules + noted.roomEnd * 8
        // Also the first ones may come long after the file was opened, by a realm with another schema.
        guard (try? LockFile.write(bytes, at: begin, to: descriptor, path, asking: true)) != nil else { return false }
        noted.roomEnd = end
        return true
    }

    /// What all living processes declare.
    func declaredRules() -> DeclaredRules {
        var all: Set<UInt64> = []
        for slot in usedSlots {
            guard (try? memory.reach(slot)) != nil, let area = memory.area(slot) else { return .every }
            let count = LockFileMemory.word64(area + Layout.Area.ruleCount).load(ordering: .sequentiallyConsistent)
            if count == 0 || slot != processSlot && forgetIfDead(slot: slot) { continue }
            guard count <= UInt64(LockFile.ruleLimit) else { return .every }
            for index in 0..<Int(count) { all.insert(LockFile.rule(index, in: area).load(ordering: .relaxed)) }
        }
        return .some(all)
    }

    private static func rule(_ index: Int, in area: UnsafeMutableRawPointer) -> UnsafeAtomic<UInt64> {
        LockFileMemory.word64(area + Layout.Area.rules + index * 8)
    }

    /// Clears what a process has noted that is gone, and its withdrawal.
    func forgetRules(ofSlot slot: Int, in area: UnsafeMutableRawPointer) {
        LockFileMemory.word64(area + Layout.Area.ruleCount).store(0, ordering: .sequentiallyConsistent)
        let number = withdrawer.load(ordering: .sequentiallyConsistent)
        guard Int(number & 0xFFFF) == slot + 1 else { return }
        _ = withdrawer.compareExchange(expected: number, desired: 0, ordering: .sequentiallyConsistent)
    }

    // MARK: Withdrawing

    private var withdrawer: UnsafeAtomic<UInt32> { memory.word32(Layout.Word.ruleWithdrawer) }

    /// Says that rules go from the file, until ``endWithdrawing(_:)``; for the holder of the write lock, before it looks which ones.
    func beginWithdrawing() -> RuleWithdrawal {
        let number = rules.withLock { noted in
            noted.withdrawalCount &+= 1
            return UInt32(noted.withdrawalCount) << 16 | UInt32(processSlot + 1)
        }
        withdrawer.store(number, ordering: .sequentiallyConsistent)
        return RuleWithdrawal(number: number)
    }

    /// Ends a withdrawal, behind its commit: the write lock may be somebody else's by then, and the next withdrawal have begun.
    func endWithdrawing(_ withdrawal: RuleWithdrawal) {
        _ = withdrawer.compareExchange(expected: withdrawal.number, desired: 0, ordering: .sequentiallyConsistent)
    }

    /// Whether anybody withdraws rules.
    var isWithdrawing: Bool { withdrawer.load(ordering: .sequentiallyConsistent) != 0 }

    /// Waits while anybody withdraws rules; false when the time for that has passed.
    private func waitForWithdrawal() -> Bool {
        let begin = LockFile.nanosecond
        while true {
            let number = withdrawer.load(ordering: .sequentiallyConsistent)
            if number == 0 { return true }
            if LockFile.nanosecond - begin > withdrawalNanoseconds { return false }
            let slot = Int(number & 0xFFFF) - 1
            // A process that died withdraws nothing any more; what stands here then is cleared with what else it has left.
            guard usedSlots.contains(slot) else { return true }
            if slot != processSlot { forgetIfDead(slot: slot) }
            if withdrawer.load(ordering: .sequentiallyConsistent) == number { usleep(500) }
        }
    }
}

#if DEBUG
extension LockFile {
    /// The area of this process says what it has noted.
    func checkRules() throws(BrokenInvariant) {
        if !isOwn { return }
        try rules.withLock { (rules) throws(BrokenInvariant) in
            let (all, room, isEvery) = (rules.all, rules.roomEnd, rules.isEvery)
            let count = ruleCount.load(ordering: .sequentiallyConsistent)
            let expected = isEvery ? LockFile.everyRule : UInt64(all.count)
            try requireOwn(count == expected, "\(all.count) rules are declared as \(count)")
            if isEvery { return }
            try Invariant.require(all.count <= room, "\(all.count) rules have room for \(room)")
            try Invariant.require(room <= LockFile.ruleLimit, "Rules reach into the table of readers")
            let told = Set((0..<all.count).map { LockFile.rule($0, in: ownArea).load(ordering: .relaxed) })
            try requireOwn(told == all, "The rules that others find are not those that were declared")
        }
    }
}
#endif

/// Rules are going from a file, with a commit.
package struct RuleWithdrawal: Sendable {
    fileprivate let number: UInt32
}

/// The indexes and rules that somebody relies on, by their numbers.
package enum DeclaredRules: Sendable, Equatable {
    /// They are too many to list, or somebody has the file open of whom nothing is known.
    case every
    case some(Set<UInt64>)

    package func contains(_ rule: UInt64) -> Bool {
        switch self {
        case .every: true
        case .some(let rules): rules.contains(rule)
        }
    }
}

extension StorageFile {
    /// Notes indexes and rules that realms of this process rely on; see ``LockFile/declare(_:only:)``.
    ///
    /// Blocks while another process, or another thread, withdraws some: as long as a commit takes, and ten seconds at most.
    ///
    /// - Returns: Whether those that the file has stay; false where that is not known before one has had the write lock.
    @discardableResult
    package func declareRules(_ rules: Set<UInt64>, only isOnly: () -> Bool) -> Bool {
        defer { checkLockFileIfAsked() }
        return lock?.declare(rules, only: isOnly) ?? true
    }

    /// Whether this process has noted rules, and not put others in their place since.
    package func hasDeclaredRules(_ rules: Set<UInt64>) -> Bool { lock?.hasDeclared(rules) ?? true }

    /// What the processes declare that have the file open, this one included.
    package var declaredRules: DeclaredRules {
        guard let lock, !lock.hasOutsiders else { return .every }
        return lock.declaredRules()
    }

    /// Has whoever declares a rule wait until `endWithdrawingRules(_:)`; for the holder of the write lock.
    package func beginWithdrawingRules() -> RuleWithdrawal? { lock?.beginWithdrawing() }

    /// Lets those go on who declare rules.
    package func endWithdrawingRules(_ withdrawal: RuleWithdrawal?) {
        if let withdrawal { lock?.endWithdrawing(withdrawal) }
    }
}
