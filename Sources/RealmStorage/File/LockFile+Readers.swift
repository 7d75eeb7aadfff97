import Atomics
import CRealmShims
import Synchronization

/// The tables of readers: who stands at which version. Each process has one of its own, so that none takes another's room.
extension LockFile {
    private typealias Layout = LockFileLayout

    /// The entries of this process.
    struct Entries {
        var free: [Int] = []
        /// The entries below were used.
        var end = 0
        /// The entries below have room in the file.
        var roomEnd = Layout.readerStep
    }

    /// Takes a free reader entry for a version; none yet, to keep the entry for later.
    ///
    /// - Throws: `StorageError`: `invalidArgument` in a forked child, and where the process slot was given back: the table is another's.
    func register(version: UInt64?, from origin: ReaderOrigin? = nil) throws(StorageError) -> Int {
        guard isOwn else {
            throw StorageError(
                .invalidArgument,
                "The realm was closed, or opened before this process was forked; open it again",
                path: path
            )
        }
        try failures?.step(.readerEntry, path: path)
        let result = entries.withLock { entries -> Result<Int, StorageError> in
            do throws(StorageError) {
                if let entry = entries.free.popLast() { return .success(entry) }
                guard entries.end < readerLimit else {
                    throw StorageError(
                        .limit,
                        "This process reads \(readerLimit) versions of the realm at once, which is the limit: let go of frozen "
                            + "objects, or refresh or close realms that stand at old versions",
                        path: path
                    )
                }
                if entries.end == entries.roomEnd {
                    let offset = Layout.area(processSlot) + Layout.Area.readers + entries.end * Layout.Reader.byteCount
                    let byteCount = Layout.readerStep * Layout.Reader.byteCount
                    // This may be long after the opening.
                    FileSizeLimit.ask()
                    try LockFile.writeZeros(offset..<(offset + byteCount), to: descriptor, path)
                    entries.roomEnd += Layout.readerStep
                }
                entries.end += 1
                let end = LockFileMemory.word32(ownArea + Layout.Area.readerEnd)
                end.store(UInt32(entries.end), ordering: .sequentiallyConsistent)
                return .success(entries.end - 1)
            } catch {
                return .failure(error)
            }
        }
        let entry = try result.get()
        if let version { setVersion(version, ofEntry: entry, from: origin) }
        return entry
    }

    /// Moves a reader entry of this process to a version.
    func setVersion(_ version: UInt64, ofEntry entry: Int, from origin: ReaderOrigin? = nil) {
        guard isOwn else { return }
        let address = ownArea + Layout.Area.readers + entry * Layout.Reader.byteCount
        LockFileMemory.word32(address + Layout.Reader.second).store(LockFile.secondSinceBoot, ordering: .relaxed)
        setPlace(of: origin, ofEntry: entry)
        readerVersion(entry, in: ownArea).store(version + 1, ordering: .sequentiallyConsistent)
    }

    /// Notes where the reader of an entry was opened.
    func setPlace(of origin: ReaderOrigin?, ofEntry entry: Int) {
        guard isOwn else { return }
        let address = ownArea + Layout.Area.readers + entry * Layout.Reader.byteCount
        let place = origin.map { self.place(of: $0) } ?? 0
        LockFileMemory.word32(address + Layout.Reader.place).store(place, ordering: .relaxed)
    }

    /// Lets an entry stand at no version; it is kept.
    func clear(_ entry: Int) {
        guard isOwn else { return }
        readerVersion(entry, in: ownArea).store(0, ordering: .sequentiallyConsistent)
    }

    /// Gives a reader entry back.
    func unregister(_ entry: Int) {
        guard isOwn else { return }
        clear(entry)
        entries.withLock { $0.free.append(entry) }
    }

    func readerVersion(_ entry: Int, in area: UnsafeMutableRawPointer) -> UnsafeAtomic<UInt64> {
        LockFileMemory.word64(area + Layout.Area.readers + entry * Layout.Reader.byteCount + Layout.Reader.version)
    }

    /// The entries of a process that stand at a version.
    private func forEachReader(_ body: (_ slot: Int, _ entry: UnsafeMutableRawPointer, _ version: UInt64) -> Void)
        throws(StorageError)
    {
        for slot in usedSlots {
            try memory.reach(slot)
            guard let area = memory.area(slot) else { continue }
            let end = LockFileMemory.word32(area + Layout.Area.readerEnd).load(ordering: .sequentiallyConsistent)
            for entry in 0..<min(Int(end), Layout.readerCount) {
                let version = readerVersion(entry, in: area).load(ordering: .sequentiallyConsistent)
                if version != 0 {
                    body(slot, area + Layout.Area.readers + entry * Layout.Reader.byteCount, version - 1)
                }
            }
        }
    }

    /// The versions at which readers of living processes stand, ascending and unique.
    ///
    /// Entries of dead processes are cleared on the way.
    func pinnedVersions() throws(StorageError) -> [UInt64] {
        var versions: [UInt64] = []
        var last = processSlot
        var isLastAlive = true
        try forEachReader { slot, _, version in
            if slot == processSlot { return versions.append(version) }
            if slot != last { (last, isLastAlive) = (slot, !forgetIfDead(slot: slot)) }
            if isLastAlive { versions.append(version) }
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
        if crealm_ofd_is_locked(data.descriptor, Layout.outsiderByte, 1) != 0 { return true }
        lastWithoutOutsiders.store(now, ordering: .relaxed)
        return false
    }

    /// What stands in the tables of readers, dead processes' entries included until the next `pinnedVersions()`.
    func readers() -> [Reader] {
        let now = LockFile.secondSinceBoot
        var readers: [Reader] = []
        try? forEachReader { slot, entry, version in
            let second = LockFileMemory.word32(entry + Layout.Reader.second).load(ordering: .relaxed)
            let process = processID(slot).load(ordering: .relaxed)
            let place = LockFileMemory.word32(entry + Layout.Reader.place).load(ordering: .relaxed)
            readers.append(
                Reader(
                    version: version,
                    seconds: now >= second ? Int(now - second) : 0,
                    process: Int32(bitPattern: process),
                    isOwn: slot == processSlot,
                    place: slot == processSlot ? nil : self.place(place, ofSlot: slot)
                )
            )
        }
        return readers
    }

    /// One entry of the tables of readers.
    struct Reader: Sendable {
        var version: UInt64
        /// For how long it has stood there.
        var seconds: Int
        var process: Int32
        var isOwn: Bool
        /// Where another process came from.
        var place: String?
    }
}
