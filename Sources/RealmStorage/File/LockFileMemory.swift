import Atomics
import Glibc
import Synchronization

/// The lock file, mapped: its words, and the areas of the processes as far as there are any.
///
/// It is only reached through atomic operations.
// Unchecked because what the pointers lead to is shared with other processes in any case.
final class LockFileMemory: @unchecked Sendable {
    private typealias Layout = LockFileLayout

    private let descriptor: Int32
    private let path: String
    private let base: UnsafeMutableRawPointer
    /// The mapping that reaches farthest, and the number of areas in it.
    private let widest: Atomic<UInt>
    private let slotEnd: Atomic<Int>
    /// All of them: somebody may point into the older ones.
    private let mappings: Mutex<[(address: UInt, byteCount: Int)]>

    /// Maps the words and the areas of the first slots.
    init(_ descriptor: Int32, _ path: String, slotEnd: Int = 8) throws(StorageError) {
        let byteCount = Layout.area(slotEnd)
        base = try Self.map(descriptor, byteCount, path)
        self.descriptor = descriptor
        self.path = path
        widest = Atomic(UInt(bitPattern: base))
        self.slotEnd = Atomic(slotEnd)
        mappings = Mutex([(UInt(bitPattern: base), byteCount)])
    }

    deinit {
        for mapping in mappings.withLock({ $0 }) {
            munmap(UnsafeMutableRawPointer(bitPattern: mapping.address), mapping.byteCount)
        }
    }

    private static func map(
        _ descriptor: Int32,
        _ byteCount: Int,
        _ path: String
    ) throws(StorageError) -> UnsafeMutableRawPointer {
        guard let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            memory != MAP_FAILED
        else { throw SystemCall.error(errno, "Cannot map the lock file", path) }
        return memory
    }

    /// Has the area of a slot mapped; none before may be left out.
    func reach(_ slot: Int) throws(StorageError) {
        if slot < slotEnd.load(ordering: .acquiring) { return }
        var end = slotEnd.load(ordering: .acquiring)
        while end <= slot { end = min(end * 2, Layout.slotCount) }
        let byteCount = Layout.area(end)
        let memory = try Self.map(descriptor, byteCount, path)
        mappings.withLock { mappings in
            mappings.append((UInt(bitPattern: memory), byteCount))
            guard end > slotEnd.load(ordering: .relaxed) else { return }
            widest.store(UInt(bitPattern: memory), ordering: .releasing)
            slotEnd.store(end, ordering: .releasing)
        }
    }

    /// The area of a slot that is mapped.
    func area(_ slot: Int) -> UnsafeMutableRawPointer? {
        guard slot < slotEnd.load(ordering: .acquiring) else { return nil }
        return UnsafeMutableRawPointer(bitPattern: widest.load(ordering: .acquiring)).map { $0 + Layout.area(slot) }
    }

    /// Where a word stands, for waiting on it.
    func address(_ offset: Int) -> UnsafeMutableRawPointer { base + offset }

    func word32(_ offset: Int) -> UnsafeAtomic<UInt32> { Self.word32(base + offset) }

    func word64(_ offset: Int) -> UnsafeAtomic<UInt64> { Self.word64(base + offset) }

    static func word32(_ address: UnsafeMutableRawPointer) -> UnsafeAtomic<UInt32> {
        UnsafeAtomic(at: address.assumingMemoryBound(to: UInt32.AtomicRepresentation.self))
    }

    static func word64(_ address: UnsafeMutableRawPointer) -> UnsafeAtomic<UInt64> {
        UnsafeAtomic(at: address.assumingMemoryBound(to: UInt64.AtomicRepresentation.self))
    }
}
