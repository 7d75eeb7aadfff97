/// Memory for the bytes of sort keys that lie in no page.
final class SortArena {
    private var chunks: [UnsafeMutableRawBufferPointer] = []
    private var used = 0

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    /// Copies bytes to where they stay.
    func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        if chunks.last.map({ $0.count - used < bytes.count }) ?? true {
            chunks.append(.allocate(byteCount: max(1 << 16, bytes.count), alignment: 8))
            used = 0
        }
        let place = UnsafeMutableRawBufferPointer(rebasing: chunks[chunks.count - 1][used..<used + bytes.count])
        place.copyMemory(from: bytes)
        used += bytes.count
        return UnsafeRawBufferPointer(place)
    }
}
