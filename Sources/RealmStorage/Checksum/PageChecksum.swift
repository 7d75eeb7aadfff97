/// The checksum of a run of pages as it stands in its parent: XXH64 of all of its bytes, with 0 mapped to 1, since 0
/// marks a run that is not sealed.
enum PageChecksum {
    static func of(_ bytes: UnsafeRawPointer, byteCount: Int) -> UInt64 {
        let hash = XXH64.hash(bytes, count: byteCount)
        return hash == 0 ? 1 : hash
    }
}
