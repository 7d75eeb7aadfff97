import Atomics
import CRealmShims
import Synchronization

/// The table of readers: who stands at which version.
extension LockFile {
    /// Takes a free reader entry for a version.
    func register(version: UInt64) throws(StorageError) -> Int {
        for entry in 0..<LockFile.readerEntryCount {
            let word = readerVersion(entry)
            guard word.load(ordering: .relaxed) == 0 else { continue }
            let owner = readerOwner(entry)
            if owner.compareExchange(expected: 0, desired: UInt32(processSlot + 1), ordering: .acquiringAndReleasing)
                .exchanged
            {
                readerSecond(entry).store(LockFile.secondSinceBoot, ordering: .relaxed)
                word.store(version + 1, ordering: .sequentiallyConsistent)
                raise(36, to: UInt32(entry + 1))
                return entry
            }
        }
        throw StorageError(
            .limit,
            "More than \(LockFile.readerEntryCount) versions of the realm are in use at once",
            path: path
        )
    }

    /// Moves a reader entry to another version.
    func setVersion(_ version: UInt64, ofEntry entry: Int) {
        readerVersion(entry).store(version + 1, ordering: .sequentiallyConsistent)
    }

    /// Gives a reader entry back.
    func unregister(_ entry: Int) {
        guard isOwn else { return }
        readerVersion(entry).store(0, ordering: .sequentiallyConsistent)
        readerOwner(entry).store(0, ordering: .sequentiallyConsistent)
    }

    /// The versions at which readers of living processes stand, ascending and unique.
    ///
    /// Entries of dead processes are cleared on the way.
    func pinnedVersions() -> [UInt64] {
        var versions: [UInt64] = []
        // Few: a list is searched faster than a set is made.
        var aliveSlots: [Int] = []
        let limit = min(Int(word32(36).load(ordering: .sequentiallyConsistent)), LockFile.readerEntryCount)
        for entry in 0..<limit {
            let version = readerVersion(entry).load(ordering: .sequentiallyConsistent)
            if version == 0 { continue }
            let slot = Int(readerOwner(entry).load(ordering: .sequentiallyConsistent)) - 1
            if slot >= 0, slot < LockFile.processSlotCount, slot != processSlot, !aliveSlots.contains(slot) {
                if forgetIfDead(slot: slot) { continue }
                aliveSlots.append(slot)
            }
            versions.append(version - 1)
        }
        if versions.count < 2 { return versions }
        versions.sort()
        var unique: [UInt64] = []
        for version in versions where version != unique.last { unique.append(version) }
        return unique
    }

    /// Whether a process that cannot write the lock file reads the realm file: it stands at a version that nobody knows.
    ///
    /// Asked of the system now and then only: one that comes meanwhile does not choose its version before it is known
    /// (``announceOutsider(in:)``).
    var hasOutsiders: Bool {
        let now = LockFile.nanosecond
        if now &- lastWithoutOutsiders.load(ordering: .relaxed) < LockFile.outsiderNanoseconds { return false }
        if crealm_ofd_is_locked(data.descriptor, LockFile.outsiderByte, 1) != 0 { return true }
        lastWithoutOutsiders.store(now, ordering: .relaxed)
        return false
    }

    /// What stands in the table of readers, dead processes' entries included until the next `pinnedVersions()`.
    func readers() -> [Reader] {
        let now = LockFile.secondSinceBoot
        let limit = min(Int(word32(36).load(ordering: .sequentiallyConsistent)), LockFile.readerEntryCount)
        return (0..<limit)
            .compactMap { entry in
                let version = readerVersion(entry).load(ordering: .sequentiallyConsistent)
                let slot = Int(readerOwner(entry).load(ordering: .sequentiallyConsistent)) - 1
                guard version != 0, slot >= 0, slot < LockFile.processSlotCount else { return nil }
                let second = readerSecond(entry).load(ordering: .relaxed)
                let process = word32(LockFile.processSlotsOffset + slot * 4).load(ordering: .relaxed)
                return Reader(
                    version: version - 1,
                    seconds: now >= second ? Int(now - second) : 0,
                    process: Int32(bitPattern: process),
                    isOwn: slot == processSlot
                )
            }
    }

    /// One entry of the table of readers.
    struct Reader: Sendable {
        var version: UInt64
        /// For how long it has stood there.
        var seconds: Int
        var process: Int32
        var isOwn: Bool
    }
}
