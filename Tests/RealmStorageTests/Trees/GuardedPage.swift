import Glibc

/// A page of memory between two that may not be touched: reading or writing beyond its ends stops the process.
final class GuardedPage {
    private let mapping: UnsafeMutableRawPointer
    let bytes: UnsafeMutableRawPointer

    init() {
        mapping = mmap(nil, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        bytes = mapping + 4096
        precondition(mprotect(bytes, 4096, PROT_READ | PROT_WRITE) == 0)
    }

    deinit {
        munmap(mapping, 3 * 4096)
    }

    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: 4096) }
}
