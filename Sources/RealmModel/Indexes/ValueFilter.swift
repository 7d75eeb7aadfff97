/// The hashes of the values of rows that an index does not hold yet.
///
/// It may say of a value that it is there although it is not, never the other way round.
struct ValueFilter: ~Copyable {
    private var slots: UnsafeMutablePointer<UInt64>
    private var capacity = 16
    private(set) var count = 0

    init() {
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: 0, count: capacity)
    }

    deinit {
        slots.deallocate()
    }

    /// Adds the value with these bytes; false when it, or one that looks like it, is there already.
    mutating func insert(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if count &* 2 >= capacity { grow() }
        let hash = Self.hash(bytes)
        var place = Int(truncatingIfNeeded: hash) & (capacity &- 1)
        while slots[place] != 0 {
            if slots[place] == hash { return false }
            place = (place &+ 1) & (capacity &- 1)
        }
        slots[place] = hash
        count &+= 1
        return true
    }

    mutating func removeAll() {
        guard count > 0 else { return }
        slots.update(repeating: 0, count: capacity)
        count = 0
    }

    private mutating func grow() {
        let old = slots
        let oldCapacity = capacity
        capacity *= 2
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: 0, count: capacity)
        for index in 0..<oldCapacity where old[index] != 0 {
            var place = Int(truncatingIfNeeded: old[index]) & (capacity &- 1)
            while slots[place] != 0 { place = (place &+ 1) & (capacity &- 1) }
            slots[place] = old[index]
        }
        old.deallocate()
    }

    /// Never 0.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
        func mix(_ word: UInt64) {
            let product = (hash ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
            hash = product.high ^ product.low ^ 0xE703_7ED1_A0B4_28DB
        }
        var offset = 0
        while offset &+ 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset &+= 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest &<< 8 | UInt64(bytes[offset])
            offset &+= 1
        }
        mix(rest)
        return hash == 0 ? 1 : hash
    }
}
