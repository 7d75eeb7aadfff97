import Glibc
import Synchronization

/// One open realm file: at most one per process and inode, shared by everything that reads or writes it.
package final class StorageFile: Sendable {
    package let path: String
    package let options: StorageOptions

    let data: any StorageDevice
    let reservation: Reservation
    private let verifier: PageVerifier
    let lock: LockFile?
    /// Who else can say where it pins versions.
    package let pinHolders = PinHolders()
    private let forkGeneration = ForkDetector.generation
    let state: Mutex<State>
    /// Guarded by the write lock; see `WriterState`.
    private let writer = Mutex<WriterBox>(WriterBox())

    private struct WriterBox {
        var state: WriterState?
        var releasable: [PreparedCommit.Run] = []
        var releasablePageCount = 0
    }

    struct Pin {
        var count: Int
        var entry: Int?
        /// Where its readers were opened, as far as they said so.
        var origins: [ReaderOrigin]
    }

    struct State {
        var published: FileHeader
        /// The slot that holds the published header.
        var slot: Int
        var byteCount: Int
        var pins: [UInt64: Pin] = [:]
        var stopped: StorageError?
        /// Grows when prepared commits are lost, so that a transaction built on them cannot be committed.
        var epoch: UInt64 = 0
    }

    /// Free space as the newest write transaction found it; see `StorageFile+Space`.
    let freePageCount = Atomic<Int>(0)
    let trailingPageCount = Atomic<Int>(0)
    /// The oldest version that a reader stood at when the newest write transaction began.
    let oldestPin = Atomic<UInt64>(.max)

    /// The version of a torn commit that opening rolled back, for the log.
    package let rolledBackVersion: UInt64?

    private init(
        path: String,
        options: StorageOptions,
        data: any StorageDevice,
        reservation: Reservation,
        lock: LockFile?,
        recovered: HeaderRecovery.Result,
        byteCount: Int
    ) {
        self.path = path
        self.options = options
        self.data = data
        self.reservation = reservation
        self.lock = lock
        verifier = PageVerifier(reservation: reservation, path: path)
        rolledBackVersion = recovered.rolledBack
        state = Mutex(State(published: recovered.header, slot: recovered.slot, byteCount: byteCount))
        reservation.verified[0].store(UInt32(recovered.header.pageCount), ordering: .releasing)
    }

    deinit {
        confirmOnClose()
    }

    // MARK: Opening

    /// Opens or creates a file.
    ///
    /// Opening the same file again in a process returns the same instance.
    package static func open(path: String, options: StorageOptions = StorageOptions()) throws(StorageError)
        -> StorageFile
    {
        try StorageFileRegistry.shared.file(path: path, options: options)
    }

    /// The descriptor of a file that exists, or was created now.
    static func openData(path: String, options: StorageOptions) throws(StorageError) -> DataFile {
        do throws(StorageError) {
            return try DataFile.open(path: path, isReadOnly: options.isReadOnly)
        } catch {
            guard error.code == .notFound, options.createsIfMissing, !options.isReadOnly else { throw error }
        }
        try withNewFileContent(options) { (content) throws(StorageError) in
            try DataFile.create(path: path, content: content)
        }
        return try DataFile.open(path: path, isReadOnly: false)
    }

    static func openUnshared(
        data file: DataFile,
        path: String,
        options: StorageOptions
    ) throws(StorageError) -> StorageFile {
        let data = options.makeDevice?(file) ?? file
        let reservation = try Reservation(
            descriptor: data.descriptor,
            byteCount: try data.currentByteCount(),
            path: path
        )
        var recovered: HeaderRecovery.Result?
        var lock: LockFile?
        do throws(StorageError) {
            lock = try LockFile(path: path + ".lock", data: data) { (past) throws(StorageError) in
                let byteCount = try data.currentByteCount()
                if HeaderRecovery.isUnfinished(mapping: reservation.mapping, byteCount: byteCount) {
                    if past.version > 1 {
                        throw .corrupt(
                            "The file was cut short: it held version \(past.version). To begin anew delete it and the lock file",
                            page: 0,
                            path: path
                        )
                    }
                    if !data.isReadOnly {
                        try withNewFileContent(options) { (content) throws(StorageError) in
                            try data.write([(content.baseAddress!, content.count)], at: 0)
                            try data.synchronize()
                        }
                    }
                }
                var result = try recover(data, reservation, path, refused: past.refused)
                if !data.isReadOnly, options.durability == .flushed {
                    try HeaderRecovery.settle(&result, mapping: reservation.mapping, in: data)
                }
                recovered = result
                return (result.header.fileID, result.header.version)
            }
        } catch {
            // A file in a folder that cannot be written can still be read: nobody can write it either.
            guard options.isReadOnly, error.code == .permissionDenied || error.code == .notFound else { throw error }
            LockFile.announceOutsider(in: data)
        }
        let byteCount = try data.currentByteCount()
        if let lock, recovered == nil {
            for _ in 0..<1000 where recovered == nil {
                recovered = try published(version: lock.newestVersion, reservation, path)
            }
            guard let header = recovered?.header, header.fileID == lock.fileID else {
                throw StorageError(
                    .incompatibleLockFile,
                    "The lock file belongs to another realm file that is still open: the realm file was replaced",
                    path: path
                )
            }
        }
        if recovered == nil { recovered = try recover(data, reservation, path) }
        return StorageFile(
            path: path,
            options: options,
            data: data,
            reservation: reservation,
            lock: lock,
            recovered: recovered!,
            byteCount: byteCount
        )
    }

    private static func recover(
        _ data: any StorageDevice,
        _ reservation: Reservation,
        _ path: String,
        refused: UInt64 = 0
    ) throws(StorageError) -> HeaderRecovery.Result {
        let byteCount = try data.currentByteCount()
        guard byteCount >= FileHeader.slotPageCount * pageByteCount else {
            throw StorageError(
                .notADatabase,
                "The file is not a realm file: it has only \(byteCount) bytes",
                path: path
            )
        }
        return try HeaderRecovery.recover(
            mapping: reservation.mapping,
            byteCount: byteCount,
            path: path,
            refused: refused
        )
    }

    /// The header of a version that another process has published.
    private static func published(
        version: UInt64,
        _ reservation: Reservation,
        _ path: String
    ) throws(StorageError) -> HeaderRecovery.Result? {
        var found: HeaderRecovery.Result?
        for page in 0..<FileHeader.slotPageCount {
            if case .valid(let header) = FileHeader.read(
                reservation.mapping + page * pageByteCount,
                page: PageNumber(page)
            ), header.version == version {
                let result = HeaderRecovery.Result(header: header, slot: page / FileHeader.copiesPerSlot)
                // The mark of a closing need not be on the disk: the next commit is to overwrite the mark and not this one.
                if header.confirmedVersion < version { return result }
                found = result
            }
        }
        return found
    }

    private static func withNewFileContent(
        _ options: StorageOptions,
        _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        var header = FileHeader(newFile: UInt64.random(in: 1 ... .max))
        header.version = options.firstVersion
        header.confirmedVersion = options.firstVersion
        header.oldestLogVersion = options.firstVersion
        let byteCount = FileHeader.slotPageCount * pageByteCount
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: pageByteCount)
        defer { bytes.deallocate() }
        for page in 0..<FileHeader.slotPageCount {
            header.store(to: bytes + page * pageByteCount, page: PageNumber(page))
        }
        try body(UnsafeRawBufferPointer(start: bytes, count: byteCount))
    }

    // MARK: Reading

    private var view: PageView {
        PageView(
            mapping: reservation.mapping,
            buffers: reservation.buffers,
            verified: reservation.verified,
            verifier: Unmanaged.passUnretained(verifier)
        )
    }

    /// Pins the newest durable version, for a reader that may say where it was opened.
    package func beginRead(from origin: ReaderOrigin? = nil) throws(StorageError) -> Snapshot {
        try checkProcess()
        while true {
            let newest = lock?.newestVersion ?? 0
            let result = state.withLock { (state) -> Result<FileHeader?, StorageError> in
                do throws(StorageError) {
                    try refresh(&state, to: newest)
                    let version = state.published.version
                    if var pin = state.pins[version] {
                        pin.count += 1
                        if let origin { pin.origins.append(origin) }
                        state.pins[version] = pin
                        return .success(state.published)
                    }
                    let entry = try lock?.register(version: version)
                    // Whoever published a newer version before it could see the entry may reuse this version's pages.
                    if let lock, let entry, lock.newestVersion > version {
                        lock.unregister(entry)
                        return .success(nil)
                    }
                    state.pins[version] = Pin(count: 1, entry: entry, origins: origin.map { [$0] } ?? [])
                    return .success(state.published)
                } catch {
                    return .failure(error)
                }
            }
            if let header = try result.get() {
                return Snapshot(file: self, header: header, view: view, origin: origin)
            }
        }
    }

    /// Releases a version that a snapshot had pinned.
    func unpin(_ version: UInt64, from origin: ReaderOrigin?) {
        state.withLock { state in
            guard var pin = state.pins[version] else { return }
            pin.count -= 1
            if let origin, let index = pin.origins.firstIndex(of: origin) { pin.origins.remove(at: index) }
            if pin.count > 0 {
                state.pins[version] = pin
            } else {
                if let entry = pin.entry { lock?.unregister(entry) }
                state.pins[version] = nil
            }
        }
    }

    /// The newest durable version, other processes' commits included.
    ///
    /// One atomic load.
    package var newestVersion: UInt64 {
        lock?.newestVersion ?? state.withLock { $0.published.version }
    }

    /// The number of versions that readers of this process stand at.
    package var pinnedVersionCount: Int {
        state.withLock { $0.pins.count }
    }

    /// Takes over what another process has published.
    func refresh(_ state: inout State, to newest: UInt64) throws(StorageError) {
        guard newest > state.published.version else { return }
        guard let found = try StorageFile.published(version: newest, reservation, path) else {
            // The slot has been overwritten meanwhile, so there is a newer version still: the caller's check finds it.
            if let lock, lock.newestVersion > newest { return try refresh(&state, to: lock.newestVersion) }
            throw .corrupt("The newest version's header cannot be read", page: 0, path: path)
        }
        state.byteCount = try data.currentByteCount()
        guard Int(found.header.pageCount) * pageByteCount <= state.byteCount else {
            // A newer version may need less of the file, which was made smaller meanwhile.
            if let lock, lock.newestVersion > newest { return try refresh(&state, to: lock.newestVersion) }
            throw .corrupt(
                "The file was cut short while it was open",
                page: PageNumber(state.byteCount / pageByteCount),
                path: path
            )
        }
        state.published = found.header
        state.slot = found.slot
        setPageLimit(atLeast: UInt32(found.header.pageCount), byteCount: state.byteCount)
    }

    /// Moves the end behind which no reference may point: not before the newest version's, and not behind the file's.
    func setPageLimit(atLeast pageCount: UInt32, byteCount: Int) {
        let limit = max(reservation.verified[0].load(ordering: .relaxed), pageCount)
        reservation.verified[0].store(min(limit, UInt32(byteCount / pageByteCount)), ordering: .releasing)
    }

    func raisePageLimit(to limit: UInt32) {
        if reservation.verified[0].load(ordering: .relaxed) < limit {
            reservation.verified[0].store(limit, ordering: .releasing)
        }
    }

    // MARK: The write lock

    /// Takes the inter-process write lock if nobody else has it.
    ///
    /// Not recursive; belongs to the process, not to a thread.
    package func tryLockForWriting() throws(StorageError) -> Bool {
        try checkProcess()
        guard let lock else { throw readOnlyError }
        return try lock.tryLockForWriting()
    }

    /// Takes the inter-process write lock, blocking the calling thread: only for dedicated threads.
    package func lockForWriting() throws(StorageError) {
        try checkProcess()
        guard let lock else { throw readOnlyError }
        try lock.lockForWriting()
    }

    /// Gives the inter-process write lock back; every prepared commit must have been published or abandoned.
    package func unlockForWriting() {
        lock?.unlockForWriting()
    }

    /// Whether another process has the file open now.
    package var isSharedWithOtherProcesses: Bool { lock?.isSharedWithOtherProcesses ?? true }

    /// The process that holds the write lock, for messages.
    package var writerProcess: Int32? { lock?.writerProcess }

    private var readOnlyError: StorageError {
        StorageError(.readOnly, "The realm was opened for reading only", path: path)
    }

    // MARK: Writing

    /// Begins a write on top of the newest prepared version.
    ///
    /// The caller holds the write lock. Without `joining` no transaction may have been left unsealed.
    ///
    /// - Parameter joining: Whether the transaction may become a member of the group of those that are not sealed yet, and
    ///   be left unsealed itself (``WriteTransaction/join()``).
    /// - Returns: The open transaction.
    /// - Throws: The failure; `limit` when more versions are in use than the options allow.
    package func beginWrite(joining: Bool = false) throws(StorageError) -> WriteTransaction {
        if joining, let member = joinGroup() { return member }
        try checkProcess()
        guard let lock, !data.isReadOnly else { throw readOnlyError }
        let byteCount = try data.currentByteCount()
        let newest = lock.newestVersion
        let before = state.withLock { (state) -> Result<(FileHeader, UInt64), StorageError> in
            do throws(StorageError) {
                if let stopped = state.stopped { throw stopped }
                try refresh(&state, to: newest)
                guard byteCount >= Int(state.published.pageCount) * pageByteCount else {
                    throw .corrupt(
                        "The file was cut short while it was open",
                        page: PageNumber(byteCount / pageByteCount),
                        path: path
                    )
                }
                state.byteCount = byteCount
                return .success((state.published, state.epoch))
            } catch {
                return .failure(error)
            }
        }
        let (published, epoch) = try before.get()
        var pinned = lock.pinnedVersions()
        try checkActiveVersions(pinned, newest: published.version)
        oldestPin.store(pinned.first ?? published.version, ordering: .relaxed)
        let index = pinned.partitioningIndex { $0 >= published.version }
        if index == pinned.count || pinned[index] != published.version { pinned.insert(published.version, at: index) }
        let loaded = writer.withLock { (box) -> Result<(WriterState, WriterGroup), StorageError> in
            do throws(StorageError) {
                if box.releasablePageCount > StorageFile.retainedBufferPageCount {
                    releaseBuffers(box.releasable)
                    box.releasable = []
                    box.releasablePageCount = 0
                }
                let state: WriterState
                if let known = box.state, known.version >= published.version {
                    state = known
                } else {
                    state = try WriterState.load(from: published, in: view, path: path)
                    box.state = state
                }
                precondition(state.group == nil, "A transaction is open, or its group has not been sealed")
                let group = WriterGroup(
                    firstVersion: state.version + 1,
                    firstPageCount: state.space.pageCount,
                    pinned: pinned,
                    epoch: epoch
                )
                group.isInMember = true
                state.group = group
                state.sealedCatalog = state.catalog
                return .success((state, group))
            } catch {
                return .failure(error)
            }
        }
        let (writerState, group) = try loaded.get()
        // A reader whose version nobody knows holds everything back.
        if !lock.hasOutsiders { writerState.space.reclaim(pinned: pinned, durable: published.version) }
        noteSpace(writerState.space)
        return WriteTransaction(
            file: self,
            state: writerState,
            view: view,
            reservation: reservation,
            group: group
        )
    }

    /// Forgets what is known of free space, so that the next write reads it from the file.
    ///
    /// The caller holds the write lock, no transaction is open, and every prepared commit has been published.
    package func forgetWriterState() {
        writer.withLock { $0.state = nil }
    }

    /// A new member of the group that is not sealed yet, if there is one.
    private func joinGroup(asSealer isSealer: Bool = false) -> WriteTransaction? {
        let found = writer.withLock { box -> (WriterState, WriterGroup)? in
            guard let state = box.state, let group = state.group, !group.isInMember else { return nil }
            group.isInMember = true
            return (state, group)
        }
        guard let (writerState, group) = found else { return nil }
        return WriteTransaction(
            file: self,
            state: writerState,
            view: view,
            reservation: reservation,
            group: group,
            isSealer: isSealer
        )
    }

    /// Seals the transactions that were left unsealed; nil when there are none.
    ///
    /// The caller holds the write lock, and no transaction is open. When it fails, all of them are lost.
    package func sealGroup() throws(StorageError) -> PreparedCommit? {
        guard let sealer = joinGroup(asSealer: true) else { return nil }
        do throws(StorageError) {
            try checkProcess()
            try sealer.session?.seal(in: sealer)
            let prepared = try sealer.prepareCommit()
            sealer.session?.didSeal(catalog: prepared.catalog)
            return prepared
        } catch {
            sealer.discardGroup()
            throw error
        }
    }

    /// Notes that a member is over; false when its group has been lost with a commit that failed.
    func endMember(of group: WriterGroup, in state: WriterState) -> Bool {
        writer.withLock { box in
            group.isInMember = false
            return box.state === state
        }
    }

    /// Notes that a group is sealed, or forgotten.
    func endGroup(of state: WriterState) {
        writer.withLock { _ in state.group = nil }
    }

    /// The number of page buffers that may stay in memory for the next transactions to use again.
    private static let retainedBufferPageCount = 8192

    private func releaseBuffers(_ runs: [PreparedCommit.Run]) {
        var extent = Extent(page: 0, pageCount: 0)
        for run in runs.sorted(by: { $0.page < $1.page }) {
            let pages = run.page..<(run.page + run.pageCount)
            if pages.upperBound <= extent.end || pages.contains(where: { reservation.isBuffered(Int($0)) }) { continue }
            if run.page <= extent.end {
                extent.pageCount = pages.upperBound - extent.page
            } else {
                reservation.releaseBuffers(page: Int(extent.page), pageCount: Int(extent.pageCount))
                extent = Extent(page: run.page, pageCount: run.pageCount)
            }
        }
        reservation.releaseBuffers(page: Int(extent.page), pageCount: Int(extent.pageCount))
    }

    /// Fails when writing has stopped, or when a commit that a transaction was built on was lost.
    func checkWriting(epoch: UInt64) throws(StorageError) {
        let error = state.withLock { state in
            state.stopped
                ?? (state.epoch == epoch
                    ? nil
                    : StorageError(
                        .io,
                        "An earlier commit failed while this transaction was open; begin it again",
                        path: path
                    ))
        }
        if let error { throw error }
    }

    /// Writes and flushes prepared commits, oldest first, with one flush; publishes the newest and wakes observers.
    ///
    /// Blocks in the device: call it on the file's I/O thread, or on the thread of a synchronous write; one call at a
    /// time, in the order of the versions.
    /// - Throws: the failure; then none of the commits is there. After a failed flush writing stops until the file is
    ///   reopened.
    package func publish(_ commits: [PreparedCommit]) throws(StorageError) {
        guard let last = commits.last, let lock else { return }
        let (published, slot, oldByteCount, stopped) = state.withLock {
            ($0.published, $0.slot, $0.byteCount, $0.stopped)
        }
        let (runs, dropped) = PreparedCommit.runs(of: commits)
        var byteCount = oldByteCount
        // Large growth is by the content itself, which is then flushed before the header.
        let isBulk =
            commits.contains(where: \.hasSpilled)
            || Int(last.pageCount) * pageByteCount - byteCount > StorageFile.bulkGrowthByteCount
        // What the header slot held, once it is touched.
        var before: [UInt8] = []
        var isFlushing = false
        let target = 1 - slot
        var header = published
        do throws(StorageError) {
            if let stopped { throw stopped }
            let needed = Int(last.pageCount) * pageByteCount
            if needed > byteCount {
                // What is known of the length may be older than the last time it was changed.
                byteCount = try data.currentByteCount()
            }
            if needed > byteCount, !isBulk {
                let step = StorageFile.growthStep(byteCount: byteCount)
                let grown = (max(needed, byteCount + step) + 65535) & ~65535
                try data.grow(from: byteCount, to: grown)
                if options.durability == .flushed {
                    isFlushing = true
                    do throws(StorageError) {
                        try data.synchronize()
                    } catch {
                        try? data.setByteCount(byteCount)
                        // Space that was promised and could not be had is no loss of what was written.
                        isFlushing = error.code != .full
                        throw error
                    }
                    isFlushing = false
                }
                byteCount = grown
                state.withLock { $0.byteCount = grown }
            }
            let extents = PreparedCommit.extents(of: runs)
            if isBulk {
                try data.write(extents, of: reservation, extending: &byteCount, to: needed)
                state.withLock { $0.byteCount = byteCount }
            } else {
                for extent in extents {
                    let bytes = UnsafeRawPointer(reservation.buffers + Int(extent.page) * pageByteCount)
                    try data.write(
                        [(bytes, Int(extent.pageCount) * pageByteCount)],
                        at: Int(extent.page) * pageByteCount
                    )
                }
            }
            header.version = last.version
            header.confirmedVersion = published.version
            header.catalog = last.catalog
            header.log = last.log
            header.records = last.records
            header.oldestLogVersion = last.oldestLogVersion
            header.pageCount = UInt64(last.pageCount)
            header.isContentFlushed = isBulk || extents.count > FileHeader.maximumExtentCount
            header.extents = header.isContentFlushed ? [] : extents
            header.contentChecksum = header.isContentFlushed ? 0 : PreparedCommit.contentChecksum(of: runs)
            if header.isContentFlushed, options.durability == .flushed {
                isFlushing = true
                try data.synchronize()
                isFlushing = false
            }
            before = slotContent(target)
            try header.write(toSlot: target, of: data)
            if options.durability == .flushed {
                isFlushing = true
                try data.synchronize()
            }
        } catch {
            // The slot is to look as it did, so that nobody takes the commit, or this repair, for something durable.
            var isRestored = true
            if !before.isEmpty {
                do throws(StorageError) {
                    try restoreSlot(target, before)
                } catch {
                    isRestored = false
                    lock.refuse(header)
                }
            } else if isBulk {
                cutBack(to: published)
            }
            for run in runs + dropped { reservation.clearBuffered(Int(run.page), count: Int(run.pageCount)) }
            writer.withLock { box in
                // What stands unsealed on the lost commits is lost with them; an open member finds out when it ends.
                if let group = box.state?.group, !group.isInMember {
                    for extent in group.taken {
                        reservation.clearBuffered(Int(extent.page), count: Int(extent.pageCount))
                    }
                }
                box.state = nil
            }
            state.withLock {
                $0.epoch += 1
                if isFlushing || !isRestored {
                    $0.stopped = StorageError(
                        .writingStopped,
                        "Writing has stopped after a failed flush (\(error.message)); close the realm and open it again",
                        path: path,
                        errorNumber: error.errorNumber
                    )
                }
            }
            throw error
        }
        raisePageLimit(to: last.pageCount)
        for run in runs {
            reservation.verified[Int(run.page)].store(UInt32(truncatingIfNeeded: run.checksum), ordering: .relaxed)
            reservation.clearBuffered(Int(run.page), count: Int(run.pageCount))
        }
        for run in dropped { reservation.clearBuffered(Int(run.page), count: Int(run.pageCount)) }
        state.withLock {
            $0.published = header
            $0.slot = target
        }
        writer.withLock { box in
            box.releasable.append(contentsOf: runs + dropped)
            box.releasablePageCount += (runs + dropped).reduce(0) { $0 + Int($1.pageCount) }
        }
        lock.publish(last.version)
        if options.durability == .flushed { confirm(header, inSlot: 1 - target) }
    }

    /// Marks a durable version as such, over the version before it, so that later damage to it cannot pass for a torn commit.
    ///
    /// Needs no flush: without the mark the version is checked at the next opening.
    private func confirm(_ header: FileHeader, inSlot slot: Int) {
        var header = header
        header.confirmedVersion = header.version
        header.extents = []
        try? header.write(toSlot: slot, copies: 1, of: data)
        state.withLock {
            if $0.published.version == header.version { $0.published.confirmedVersion = header.version }
        }
    }

    private func slotContent(_ slot: Int) -> [UInt8] {
        let byteCount = FileHeader.copiesPerSlot * pageByteCount
        return Array(UnsafeRawBufferPointer(start: reservation.mapping + slot * byteCount, count: byteCount))
    }

    private func restoreSlot(_ slot: Int, _ content: [UInt8]) throws(StorageError) {
        let offset = slot * FileHeader.copiesPerSlot * pageByteCount
        let result = content.withUnsafeBytes { bytes -> Result<Void, StorageError> in
            do throws(StorageError) {
                return .success(try data.write([(bytes.baseAddress!, bytes.count)], at: offset))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Marks the newest version as durable when that has not been done.
    private func confirmOnClose() {
        guard let lock, !data.isReadOnly, ForkDetector.generation == forkGeneration else { return }
        let (published, slot, stopped) = state.withLock { ($0.published, $0.slot, $0.stopped) }
        // A commit of a process that died before it could be acknowledged must not come to life at the next opening.
        let isFollowed = (0..<FileHeader.copiesPerSlot)
            .contains { copy in
                let page = (1 - slot) * FileHeader.copiesPerSlot + copy
                let bytes = reservation.mapping + page * pageByteCount
                guard case .valid(let other) = FileHeader.read(bytes, page: PageNumber(page)) else { return false }
                return other.version > published.version
            }
        guard stopped == nil, published.confirmedVersion < published.version || isFollowed,
            (try? lock.tryLockForWriting()) == true
        else { return }
        if lock.newestVersion == published.version {
            var header = published
            header.confirmedVersion = header.version
            header.extents = []
            // Every copy: there may be a commit in the slot that is to be forgotten.
            try? header.write(toSlot: 1 - slot, of: data)
        }
        lock.unlockForWriting()
    }

    // MARK: Changes

    /// Everything that changed after a version, up to the snapshot's, merged; nil when that stretch is no longer kept.
    ///
    /// The stretch is kept for as long as a reader stands at `first`, or as the retention of the options says.
    /// - Complexity: O(what changed) and O(the number of versions between).
    package func changes(after first: UInt64, through last: Snapshot) throws(StorageError) -> ChangeSet? {
        if first >= last.version { return ChangeSet() }
        if first < last.header.oldestLogVersion { return nil }
        var found: [LogSegment.VersionChanges] = []
        for record in try last.headerRecords where record.version > first {
            found.append(LogSegment.VersionChanges(version: record.version, changes: record.changes))
        }
        // Records in the header follow each other: what they reach back to need not be looked for in the log.
        let isComplete = found.contains { $0.version == first + 1 }
        var next = isComplete ? PageReference.none : last.header.log
        var bound = last.version
        while !next.isNone {
            let segment = try LogSegment.read(next, in: last.view)
            guard segment.version <= bound else {
                throw .corrupt("The chain of log segments does not end", page: next.page, path: path)
            }
            if segment.version <= first { break }
            found += segment.changes.filter { $0.version > first }
            bound = segment.previousVersion
            next = segment.previous
        }
        return ChangeSet.merged(found.sorted { $0.version < $1.version }.map(\.changes))
    }

    /// Counts the calling thread among those that `waitForVersion`, until it is counted out.
    package func beginWatching() { lock?.watch(true) }

    /// Counts the calling thread out.
    package func endWatching() { lock?.watch(false) }

    /// Blocks the calling (dedicated) thread until a version newer than `version` is published by another process, until
    /// `interruptWaiters()` is called, or the timeout passes; returns the newest version.
    ///
    /// - Parameters:
    ///   - version: The version that the caller has seen.
    ///   - timeoutNanoseconds: The longest wait; negative for none.
    ///   - isInterrupted: Whether not to wait at all. What is set before `interruptWaiters()` is seen here or ends the
    ///     wait, so that no interruption is lost.
    /// - Returns: The newest durable version.
    package func waitForVersion(
        after version: UInt64,
        timeoutNanoseconds: Int64 = -1,
        unless isInterrupted: () -> Bool = { false }
    ) -> UInt64 {
        guard let lock else { return newestVersion }
        let word = lock.wakeWord
        if lock.newestVersion <= version, !isInterrupted() {
            lock.waitForWake(from: word, timeoutNanoseconds: timeoutNanoseconds)
        }
        return lock.newestVersion
    }

    /// Lets every `waitForVersion` return, in this process and in others.
    package func interruptWaiters() {
        lock?.wake(includingOwn: true)
    }

    // MARK: Figures

    /// Whether writing has stopped after a failed flush, until the file is opened anew.
    var hasStopped: Bool { state.withLock { $0.stopped != nil } }

    /// The size of the file in bytes.
    package var byteCount: Int {
        state.withLock { $0.byteCount }
    }

    /// Notes that the file has another size now.
    func note(byteCount: Int) {
        state.withLock { $0.byteCount = byteCount }
    }

    private func checkProcess() throws(StorageError) {
        guard ForkDetector.generation == forkGeneration else {
            throw StorageError(
                .invalidArgument,
                "The realm was opened before this process was forked; open it again in the child",
                path: path
            )
        }
    }
}
