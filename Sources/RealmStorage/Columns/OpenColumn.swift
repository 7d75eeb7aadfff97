/// A column of an open cluster.
struct OpenColumn {
    /// Where the values are.
    enum State: UInt8 {
        /// Every value is null or zero; nothing is stored.
        case absent
        /// As in the page that the cluster was opened from.
        case stored
        /// Copied to memory, where it can change; it will be encoded anew.
        case expanded
    }

    let layout: ColumnLayout
    var state = State.absent
    /// Bytes per row in memory: 8 for ints and doubles, less while an int column keeps its stored width.
    var width = 0
    /// The frame of a narrow int column.
    var minimum: Int64 = 0
    var data: UnsafeMutableRawPointer?
    /// One bit per row of the capacity; present if and only if the expanded column is nullable.
    var nulls: UnsafeMutableRawPointer?
    var heap: UnsafeMutableRawPointer?
    var heapCount = 0
    var heapCapacity = 0
    /// The bytes of the heap that rows refer to.
    var liveByteCount = 0
    /// The column's own run in the base, to be freed when the column has been encoded anew.
    var run = PageReference.none

    init(layout: ColumnLayout) {
        self.layout = layout
    }

    /// Bytes per row of the widest form in memory.
    var fullWidth: Int {
        switch layout.kind {
        case .int, .double, .bytes: 8
        case .float: 4
        case .fixed12: 12
        case .fixed16: 16
        }
    }
}

/// Counts the memory of all open clusters of a table.
final class OpenMemory {
    @exclusivity(unchecked) var byteCount = 0

    /// Zeroed memory.
    func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        byteCount += count
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
        bytes.initializeMemory(as: UInt8.self, repeating: 0, count: count)
        return bytes
    }

    /// Memory that the caller fills.
    func allocateUninitialized(_ count: Int) -> UnsafeMutableRawPointer {
        byteCount += count
        return UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
    }

    func free(_ bytes: UnsafeMutableRawPointer?, _ count: Int) {
        guard let bytes else { return }
        byteCount -= count
        bytes.deallocate()
    }
}
