package import RealmStorage

/// The entries of a dictionary, see `ListFormat`.
package enum MapFormat {
    /// The longest name of an entry in bytes of UTF-8.
    package static let keyByteLimit = 65_535

    /// The name and the value of an entry.
    static func entry(
        _ bytes: UnsafeRawBufferPointer,
        _ slot: PropertySlot
    ) throws(StorageError) -> (key: UnsafeRawBufferPointer, value: BorrowedValue) {
        guard bytes.count >= 2 else { throw ListFormat.damaged("an entry is too short.") }
        let length = Int(UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self)))
        guard bytes.count >= 2 + length else { throw ListFormat.damaged("an entry's name is too long.") }
        let value = ListFormat.value(
            UnsafeRawBufferPointer(rebasing: bytes[(2 + length)...]),
            kind: slot.kind,
            width: ListFormat.width(of: slot.kind),
            // Earlier releases left null in dictionaries of links that are not optional, where an object was deleted.
            isOptional: slot.isOptional || slot.isLink
        )
        guard let value else { throw ListFormat.damaged("an entry's value has the wrong length.") }
        return (UnsafeRawBufferPointer(rebasing: bytes[2..<2 + length]), value)
    }

    /// The bytes of an entry.
    static func encode(_ key: String, _ value: StoredValue, _ slot: PropertySlot) throws(StorageError) -> [UInt8] {
        // The name of an entry that was no UTF-8 has become longer when it comes from a file.
        guard key.utf8.count <= keyByteLimit else { throw ListFormat.damaged("an entry's name is no text.") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(key.utf8.count + 18)
        withUnsafeBytes(of: UInt16(key.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: key.utf8)
        do {
            try value.withBorrowed(for: slot.kind) { value in
                try ListFormat.withElement(
                    value,
                    width: ListFormat.width(of: slot.kind),
                    isOptional: slot.isOptional
                ) { (element) throws(StorageError) in bytes.append(contentsOf: element) }
            }
        } catch let error as StorageError {
            throw error
        } catch {
            throw ListFormat.damaged("\(error)")
        }
        return bytes
    }
}

/// The entries of one dictionary, read in place: their names ascend as bytes.
package struct MapView {
    /// The entries as a list.
    package let list: ListView
    private let slot: PropertySlot

    init(_ list: ListView, _ slot: PropertySlot) {
        self.list = list
        self.slot = slot
    }

    package var count: Int { list.count }

    /// The name of the entry at a position.
    package func key(at index: Int) throws(StorageError) -> String {
        String(decoding: try entry(at: index).key, as: UTF8.self)
    }

    /// The value of the entry at a position, owned.
    package func value(at index: Int) throws(StorageError) -> StoredValue {
        StoredValue(try entry(at: index).value, kind: slot.kind)
    }

    /// The name and the value, in place.
    package func entry(at index: Int) throws(StorageError) -> (key: UnsafeRawBufferPointer, value: BorrowedValue) {
        try MapFormat.entry(try list.bytes(at: index), slot)
    }

    /// Where a name is or belongs, in O(log n).
    package func position(of key: String) throws(StorageError) -> (index: Int, isThere: Bool) {
        var key = key
        var lower = 0
        var upper = count
        do {
            return try key.withUTF8 { name in
                while lower < upper {
                    let middle = (lower + upper) / 2
                    let other = try entry(at: middle).key
                    if other.elementsEqual(name) { return (middle, true) }
                    if other.lexicographicallyPrecedes(name) { lower = middle + 1 } else { upper = middle }
                }
                return (lower, false)
            }
        } catch let error as StorageError {
            throw error
        } catch {
            throw ListFormat.damaged("\(error)")
        }
    }

    /// The value of a name; nil when there is no such entry.
    package func value(for key: String) throws(StorageError) -> StoredValue? {
        let place = try position(of: key)
        return place.isThere ? try value(at: place.index) : nil
    }

    /// All entries, owned.
    package func entries() throws(StorageError) -> [StoredEntry] {
        var entries: [StoredEntry] = []
        entries.reserveCapacity(forClaimed: count)
        for index in 0..<count {
            let entry = try entry(at: index)
            entries.append(
                StoredEntry(
                    key: String(decoding: entry.key, as: UTF8.self),
                    value: StoredValue(entry.value, kind: slot.kind)
                )
            )
        }
        return entries
    }
}
