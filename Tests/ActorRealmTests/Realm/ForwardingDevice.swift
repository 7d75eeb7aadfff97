import RealmStorage

/// A device in front of another one, to which it leaves whatever it does not do itself.
protocol ForwardingDevice: StorageDevice {
    var base: any StorageDevice { get }
}

extension ForwardingDevice {
    var descriptor: Int32 { base.descriptor }
    var path: String { base.path }
    var isReadOnly: Bool { base.isReadOnly }

    func currentByteCount() throws(StorageError) -> Int { try base.currentByteCount() }
    func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
        try base.write(pieces, at: offset)
    }
    func setByteCount(_ byteCount: Int) throws(StorageError) { try base.setByteCount(byteCount) }
    func synchronize() throws(StorageError) { try base.synchronize() }
}
