/// The device of a file that stands in memory: nothing can be written to it.
struct MemoryDevice: StorageDevice {
    let path: String
    let byteCount: Int

    /// None.
    var descriptor: Int32 { -1 }
    var isReadOnly: Bool { true }

    func currentByteCount() -> Int { byteCount }

    func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) { throw refusal }

    func synchronize() throws(StorageError) { throw refusal }

    func setByteCount(_ byteCount: Int) throws(StorageError) { throw refusal }

    private var refusal: StorageError {
        StorageError(.readOnly, "A version in memory cannot be written to the realm file", path: path)
    }
}
