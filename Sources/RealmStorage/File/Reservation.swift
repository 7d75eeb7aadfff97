import CRealmShims
import Glibc
import Synchronization

/// The address space of one open file, reserved once, so that the file can grow without any pointer moving:
/// the read-only shared mapping, memory for the writer's private buffers, and per page one word for verification, one for
/// the buffer and one for the buffer's checksum.
// Unchecked because the pointers never change; what they point to is written as `PageView` and `StorageFile` say.
final class Reservation: @unchecked Sendable {
    let mapping: UnsafeRawPointer
    let verified: UnsafeMutablePointer<Atomic<UInt32>>
    /// Per page: where the run that begins there stands in private memory, because it is not, or not yet, in the file; else 0.
    let buffers: UnsafeMutablePointer<Atomic<UInt>>
    /// Whether a run ever stood in private memory.
    private let hasHadBuffers = Atomic<Bool>(false)
    /// Per page: the checksum of the run that begins there in private memory, as it was sealed last; 0 before that.
    private let seals: UnsafeMutablePointer<Atomic<UInt64>>
    /// The private memory, for the holder of the write lock.
    let pool: BufferPool
    let pageCapacity: Int
    /// Whether the descriptor may write: the system calls every page of other files one that it has in memory.
    let isWritable: Bool
    /// Has steps fail, in tests.
    let failures: StepFailures?
    /// Whose mapping it reads through, which stays as long; nil where it has one of its own.
    private let base: Reservation?
    private let poolMemory: UnsafeMutableRawPointer
    /// The size of the mapping, and of the private memory.
    private let mappedByteCount: Int
    private let sideByteCount: Int

    /// Reserves room for a file, trying smaller extents when the address space is limited.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - byteCount: Its length.
    ///   - path: Its path.
    ///   - isWritable: Whether the descriptor may write; nil where the caller does not know.
    ///   - reservedByteCount: How much is reserved; nil for as much as a file should have.
    ///   - failures: Has steps fail, in tests.
    /// - Throws: `addressSpaceExhausted`, `corrupt` where the file is longer than any can be, and what the system answers.
    init(
        descriptor: Int32,
        byteCount: Int,
        path: String,
        isWritable: Bool? = nil,
        reservedByteCount: Int? = nil,
        failures: StepFailures? = nil
    ) throws(StorageError) {
        base = nil
        self.failures = failures
        self.isWritable = isWritable ?? (fcntl(descriptor, F_GETFL) & O_ACCMODE == O_RDWR)
        try failures?.step(.mapping, path: path)
        guard byteCount <= Reservation.greatestByteCount else {
            throw .corrupt("The file has \(byteCount) bytes, more than a realm file can have", page: 0, path: path)
        }
        var capacity = reservedByteCount ?? max(Reservation.share, (byteCount * 2).roundedUpToPowerOfTwo)
        let least = max(256 << 20, (byteCount + (byteCount >> 1)).roundedUpToPowerOfTwo)
        while true {
            if let regions = Reservation.map(descriptor: descriptor, capacity: capacity) {
                mappedByteCount = capacity
                // More pages have no numbers, however long the file is. An even number, so that the words of 8 bytes behind those
                // of 4 lie where atomic access needs them.
                pageCapacity = min(capacity / pageByteCount, Int(UInt32.max)) & ~1
                sideByteCount = regions.sideByteCount
                Reservation.reserved.add(2 * capacity + regions.sideByteCount, ordering: .relaxed)
                mapping = UnsafeRawPointer(regions.mapping)
                poolMemory = regions.pool
                pool = BufferPool(memory: regions.pool, pageCapacity: pageCapacity)
                (verified, buffers, seals) = Reservation.words(in: regions.side, pageCapacity)
                return
            }
            // Some environments call what is too long for them invalid.
            if errno != ENOMEM, errno != EINVAL { throw SystemCall.error(errno, "Cannot map the realm file", path) }
            if capacity <= least {
                throw StorageError(
                    .addressSpaceExhausted,
                    "Cannot reserve \(capacity) bytes of address space for the realm file",
                    path: path,
                    errorNumber: errno
                )
            }
            capacity /= 2
        }
    }

    /// Reserves private memory beside the pages of a file, which are read through another reservation's mapping of it.
    ///
    /// - Parameters:
    ///   - base: The other reservation.
    ///   - pageCount: So many pages have numbers, and private memory.
    ///   - path: The path, for messages.
    /// - Throws: `addressSpaceExhausted`.
    init(over base: Reservation, pageCount: Int, path: String) throws(StorageError) {
        self.base = base
        failures = base.failures
        isWritable = base.isWritable
        try failures?.step(.mapping, path: path)
        // An even number, as above.
        pageCapacity = (pageCount + 1) / 2 * 2
        mappedByteCount = pageCapacity * pageByteCount
        sideByteCount = pageCapacity * Reservation.wordByteCount
        guard let memory = Reservation.mapPrivate(mappedByteCount) else { throw Reservation.exhausted(path) }
        guard let side = Reservation.mapPrivate(sideByteCount) else {
            munmap(memory, mappedByteCount)
            throw Reservation.exhausted(path)
        }
        Reservation.reserved.add(mappedByteCount + sideByteCount, ordering: .relaxed)
        mapping = base.mapping
        poolMemory = memory
        pool = BufferPool(memory: memory, pageCapacity: pageCapacity)
        (verified, buffers, seals) = Reservation.words(in: side, pageCapacity)
    }

    deinit {
        let mapped = base == nil ? mappedByteCount : 0
        if mapped > 0 { munmap(UnsafeMutableRawPointer(mutating: mapping), mapped) }
        munmap(poolMemory, mappedByteCount)
        munmap(UnsafeMutableRawPointer(verified), sideByteCount)
        Reservation.reserved.subtract(mapped + mappedByteCount + sideByteCount, ordering: .relaxed)
    }

    private static func exhausted(_ path: String) -> StorageError {
        StorageError(
            .addressSpaceExhausted,
            "Cannot reserve address space for a version of the realm file in memory",
            path: path,
            errorNumber: errno
        )
    }

    /// The bytes of address space that the open files of this process reserved.
    private static let reserved = Atomic<Int>(0)
    /// The bytes of address space that a process has on the systems that we run on.
    private static let addressSpace = 1 << 47
    /// The length of a file with as many pages as page numbers count, grown ahead of what is in it.
    private static let greatestByteCount = 1 << 44 + 1 << 24

    /// How many bytes a file may grow to, when nothing else is asked for: a small part of the address space that is left,
    /// so that a process can hold thousands of files open, and at most what one file needs.
    private static var share: Int {
        let left = max(0, addressSpace - reserved.load(ordering: .relaxed))
        return min(Int(crealm_preferred_reservation()), max(256 << 20, (left / 512).roundedDownToPowerOfTwo))
    }

    private static func map(
        descriptor: Int32,
        capacity: Int
    ) -> (
        mapping: UnsafeMutableRawPointer, pool: UnsafeMutableRawPointer, side: UnsafeMutableRawPointer,
        sideByteCount: Int
    )? {
        let side = capacity / pageByteCount * wordByteCount
        guard let mapping = mmap(nil, capacity, PROT_READ, MAP_SHARED | Int32(MAP_NORESERVE), descriptor, 0),
            mapping != MAP_FAILED
        else { return nil }
        guard let pool = mapPrivate(capacity) else {
            munmap(mapping, capacity)
            return nil
        }
        guard let words = mapPrivate(side) else {
            munmap(mapping, capacity)
            munmap(pool, capacity)
            return nil
        }
        return (mapping, pool, words, side)
    }

    /// Private memory that costs nothing until it is touched; nil where there is none.
    private static func mapPrivate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        let flags = MAP_PRIVATE | Int32(MAP_ANONYMOUS) | Int32(MAP_NORESERVE)
        let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
        return memory == MAP_FAILED ? nil : memory
    }

    /// The bytes of the words of one page.
    private static let wordByteCount = 20

    private static func words(
        in side: UnsafeMutableRawPointer,
        _ pageCapacity: Int
    ) -> (
        verified: UnsafeMutablePointer<Atomic<UInt32>>, buffers: UnsafeMutablePointer<Atomic<UInt>>,
        seals: UnsafeMutablePointer<Atomic<UInt64>>
    ) {
        (
            side.bindMemory(to: Atomic<UInt32>.self, capacity: pageCapacity),
            (side + pageCapacity * 4).bindMemory(to: Atomic<UInt>.self, capacity: pageCapacity),
            (side + pageCapacity * 12).bindMemory(to: Atomic<UInt64>.self, capacity: pageCapacity)
        )
    }

    /// Whether the run that begins at a page stands in private memory.
    func isBuffered(_ page: Int) -> Bool { buffers[page].load(ordering: .acquiring) != 0 }

    /// Whether a run that begins at a page stands in private memory, or was verified in the file.
    func isKnown(_ page: Int) -> Bool { isBuffered(page) || verified[page].load(ordering: .relaxed) != 0 }

    /// Where the run that begins at a page stands in private memory.
    ///
    /// Where nothing was ever written, no word of the runs is touched: each first one is a page fault of an opening. Who knows of a run in
    /// private memory was told by its writer, and sees the flag that was set before.
    func buffer(of page: Int) -> UnsafeMutableRawPointer? {
        if !hasHadBuffers.load(ordering: .acquiring) { return nil }
        return UnsafeMutableRawPointer(bitPattern: buffers[page].load(ordering: .acquiring))
    }

    /// The checksum with which the run that begins at a page in private memory was sealed last.
    func seal(of page: Int) -> UInt64 { seals[page].load(ordering: .acquiring) }

    /// Notes the checksum of a run in private memory; only for the holder of the write lock.
    func setSeal(of page: Int, to checksum: UInt64) { seals[page].store(checksum, ordering: .releasing) }

    /// Gives a run private memory, with anything in it; only for the holder of the write lock.
    ///
    /// - Returns: The memory; nil when the address space is used up.
    func makeBuffer(page: Int, pageCount: Int) -> UnsafeMutableRawPointer? {
        dropBuffers(page: page, pageCount: 1)
        guard let bytes = pool.take(pageCount) else { return nil }
        setSeal(of: page, to: 0)
        if !hasHadBuffers.load(ordering: .relaxed) { hasHadBuffers.store(true, ordering: .releasing) }
        buffers[page].store(UInt(bitPattern: bytes), ordering: .releasing)
        return bytes
    }

    /// Lets the runs that begin in a stretch of pages stand nowhere but in the file, and their memory be used again at once;
    /// only for the holder of the write lock.
    func dropBuffers(page: Int, pageCount: Int) {
        for page in page..<(page + pageCount) {
            if let bytes = withdrawBuffer(of: page) { pool.giveBack(bytes) }
        }
    }

    /// Lets a run stand nowhere but in the file.
    ///
    /// - Returns: Its memory, which the holder of the write lock may point into until the next transaction begins.
    func withdrawBuffer(of page: Int) -> UnsafeMutableRawPointer? {
        if buffers[page].load(ordering: .relaxed) == 0 { return nil }
        return UnsafeMutableRawPointer(bitPattern: buffers[page].exchange(0, ordering: .acquiringAndReleasing))
    }

    /// Lets go of the file's pages that were read through the mapping; they stay in the system's cache.
    func releaseMapping(from first: Int, to end: Int) {
        let start = UnsafeMutableRawPointer(mutating: mapping) + first * pageByteCount
        madvise(start, (end - first) * pageByteCount, MADV_DONTNEED)
    }
}

extension Int {
    fileprivate var roundedDownToPowerOfTwo: Int {
        self <= 1 ? 1 : 1 << (Int.bitWidth - 1 - leadingZeroBitCount)
    }

    fileprivate var roundedUpToPowerOfTwo: Int {
        self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
    }
}
