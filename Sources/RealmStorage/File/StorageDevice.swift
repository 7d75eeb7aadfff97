/// The system calls that the engine makes on an open realm file.
///
/// Tests put a device of their own before the real one, which fails, tears and forgets what was not flushed.
package protocol StorageDevice: Sendable {
    /// The descriptor that the file is mapped through.
    var descriptor: Int32 { get }
    /// The path, for messages.
    var path: String { get }
    var isReadOnly: Bool { get }

    /// How many bytes the file's device has left for this process; nil where nobody says.
    var freeByteCount: Int? { get }

    /// The file's present length, after checking that it is still there.
    func currentByteCount() throws(StorageError) -> Int

    /// Writes pieces of memory one behind the other, all of them or an error.
    func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError)

    /// Makes everything written, and the length, durable. A failure is never retried.
    func synchronize() throws(StorageError)

    /// Cuts the file, or extends it with a hole.
    func setByteCount(_ byteCount: Int) throws(StorageError)
}

extension StorageDevice {
    package var freeByteCount: Int? { nil }

    /// Extends the file with zero bytes that are really written, to be flushed before the space is used; cuts it back when
    /// that fails. (On ext4 a fresh block whose first write-back failed stays zero even after a later good flush.)
    func grow(from old: Int, to new: Int) throws(StorageError) {
        let chunk = 1 << 20
        let zeros = UnsafeMutableRawPointer.allocate(byteCount: min(chunk, new - old), alignment: pageByteCount)
        zeros.initializeMemory(as: UInt8.self, repeating: 0, count: min(chunk, new - old))
        defer { zeros.deallocate() }
        do throws(StorageError) {
            var position = old
            while position < new {
                let count = min(chunk, new - position)
                try write([(UnsafeRawPointer(zeros), count)], at: position)
                position += count
            }
        } catch {
            try? setByteCount(old)
            throw error
        }
    }
}
