import RealmStorage

/// A device in front of another one, to which it leaves whatever it does not do itself.
package protocol ForwardingDevice: StorageDevice {
    var base: any StorageDevice { get }
}

extension ForwardingDevice {
    package var descriptor: Int32 { base.descriptor }
    package var path: String { base.path }
    package var isReadOnly: Bool { base.isReadOnly }
    package var freeByteCount: Int? { base.freeByteCount }

    package func currentByteCount() throws(StorageError) -> Int { try base.currentByteCount() }
    package func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
        try base.write(pieces, at: offset)
    }
    package func setByteCount(_ byteCount: Int) throws(StorageError) { try base.setByteCount(byteCount) }
    package func synchronize() throws(StorageError) { try base.synchronize() }
}
