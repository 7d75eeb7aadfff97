import CRealmShims
import Glibc
import Synchronization

/// The address space of one open file, reserved once, so that the file can grow without any pointer moving:
/// the read-only shared mapping, the writer's private page buffers, and one word per page for verification.
// Unchecked because the pointers never change; what they point to is written as `PageView` and `StorageFile` say.
final class Reservation: @unchecked Sendable {
    let mapping: UnsafeRawPointer
    let buffers: UnsafeMutableRawPointer
    let verified: UnsafeMutablePointer<Atomic<UInt32>>
    /// One bit per page: the run that begins there stands in `buffers` and not, or not yet, in the file.
    let buffered: UnsafeMutablePointer<Atomic<UInt64>>
    let pageCapacity: Int
    private let sideByteCount: Int

    /// Reserves room for a file, trying smaller extents when the address space is limited.
    init(descriptor: Int32, byteCount: Int, path: String) throws(StorageError) {
        var capacity = max(Int(crealm_preferred_reservation()), (byteCount * 2).roundedUpToPowerOfTwo)
        let least = max(256 << 20, (byteCount + (byteCount >> 1)).roundedUpToPowerOfTwo)
        while true {
            if let regions = Reservation.map(descriptor: descriptor, capacity: capacity) {
                pageCapacity = capacity / pageByteCount
                sideByteCount = regions.sideByteCount
                mapping = UnsafeRawPointer(regions.mapping)
                buffers = regions.buffers
                verified = regions.side.bindMemory(to: Atomic<UInt32>.self, capacity: pageCapacity)
                buffered = (regions.side + pageCapacity * 4)
                    .bindMemory(to: Atomic<UInt64>.self, capacity: pageCapacity / 64)
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

    deinit {
        munmap(UnsafeMutableRawPointer(mutating: mapping), pageCapacity * pageByteCount)
        munmap(buffers, pageCapacity * pageByteCount)
        munmap(UnsafeMutableRawPointer(verified), sideByteCount)
    }

    private static func map(
        descriptor: Int32,
        capacity: Int
    ) -> (
        mapping: UnsafeMutableRawPointer, buffers: UnsafeMutableRawPointer, side: UnsafeMutableRawPointer,
        sideByteCount: Int
    )? {
        let side = capacity / pageByteCount * 4 + capacity / pageByteCount / 8
        let anonymous = MAP_PRIVATE | Int32(MAP_ANONYMOUS) | Int32(MAP_NORESERVE)
        guard let mapping = mmap(nil, capacity, PROT_READ, MAP_SHARED | Int32(MAP_NORESERVE), descriptor, 0),
            mapping != MAP_FAILED
        else { return nil }
        guard let buffers = mmap(nil, capacity, PROT_READ | PROT_WRITE, anonymous, -1, 0), buffers != MAP_FAILED else {
            munmap(mapping, capacity)
            return nil
        }
        guard let words = mmap(nil, side, PROT_READ | PROT_WRITE, anonymous, -1, 0), words != MAP_FAILED else {
            munmap(mapping, capacity)
            munmap(buffers, capacity)
            return nil
        }
        return (mapping, buffers, words, side)
    }

    func isBuffered(_ page: Int) -> Bool {
        buffered[page >> 6].load(ordering: .acquiring) & (1 << UInt64(page & 63)) != 0
    }

    func setBuffered(_ page: Int, count: Int) {
        for page in page..<(page + count) {
            buffered[page >> 6].bitwiseOr(1 << UInt64(page & 63), ordering: .releasing)
        }
    }

    func clearBuffered(_ page: Int, count: Int) {
        for page in page..<(page + count) {
            buffered[page >> 6].bitwiseAnd(~(1 << UInt64(page & 63)), ordering: .releasing)
        }
    }

    /// Lets go of the file's pages that were read through the mapping; they stay in the system's cache.
    func releaseMapping(from first: Int, to end: Int) {
        let start = UnsafeMutableRawPointer(mutating: mapping) + first * pageByteCount
        madvise(start, (end - first) * pageByteCount, MADV_DONTNEED)
    }

    /// Gives the memory behind some buffers back to the system.
    func releaseBuffers(page: Int, pageCount: Int) {
        madvise(buffers + page * pageByteCount, pageCount * pageByteCount, MADV_DONTNEED)
    }
}

extension Int {
    fileprivate var roundedUpToPowerOfTwo: Int {
        self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
    }
}
