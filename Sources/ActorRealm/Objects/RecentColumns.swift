import RealmStorage

/// The columns of a few leaves that were read by turns, of one version: links lead from leaf to leaf and back.
struct RecentColumns: ~Copyable {
    /// For each property, so many leaves have a place, by their addresses.
    private static let shift = 3
    private let slotCount: Int
    /// None before a second leaf is read.
    private var slots: UnsafeMutablePointer<ColumnSlot>?

    init(slotCount: Int) { self.slotCount = slotCount }

    deinit { slots?.deallocate() }

    @inline(__always)
    private static func index(_ key: UInt32, _ leaf: UnsafeRawPointer?) -> Int {
        // Leaves begin at pages.
        let page = UInt(bitPattern: leaf) &>> 12
        return Int(key) &<< shift | Int(truncatingIfNeeded: (page ^ page &>> 3 ^ page &>> 6) & 7)
    }

    /// The column of a property in a leaf, as it was read in a version.
    @inline(__always)
    func known(_ key: UInt32, leaf: UnsafeRawPointer?, generation: UInt64) -> UnsafeMutablePointer<ColumnSlot>? {
        guard let slots else { return nil }
        let slot = slots + Self.index(key, leaf)
        return slot.pointee.leaf == leaf && slot.pointee.generation == generation ? slot : nil
    }

    /// Keeps a column, where the last one of the property was that of another leaf of the version.
    @inline(__always)
    mutating func keep(_ slot: ColumnSlot, _ key: UInt32, after last: ColumnSlot) {
        if slots == nil {
            guard last.generation == slot.generation, last.leaf != slot.leaf else { return }
            makeRoom()
        }
        slots?[Self.index(key, slot.leaf)] = slot
    }

    @inline(never)
    private mutating func makeRoom() {
        let count = slotCount &<< Self.shift
        let memory = UnsafeMutablePointer<ColumnSlot>.allocate(capacity: count)
        memory.initialize(
            repeating: ColumnSlot(
                leaf: nil,
                generation: 0,
                data: UnsafeRawPointer(memory),
                nulls: nil,
                minimum: 0,
                width: 0
            ),
            count: count
        )
        slots = memory
    }
}

#if DEBUG
extension RecentColumns {
    /// Each column stands where it is looked for; calls a function with all that are kept.
    func checkInvariants(_ body: (UInt32, ColumnSlot) throws(BrokenInvariant) -> Void) throws(BrokenInvariant) {
        guard let slots else { return }
        for index in 0..<slotCount &<< Self.shift where slots[index].leaf != nil {
            let key = UInt32(index &>> Self.shift)
            let place = Self.index(key, slots[index].leaf)
            try Invariant.require(place == index, "A column is kept in the place of another leaf's")
            try body(key, slots[index])
        }
    }
}
#endif
