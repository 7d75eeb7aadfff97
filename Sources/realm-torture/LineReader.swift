import Glibc

/// Reads standard input by lines.
///
/// The standard library's `readLine` takes an `errno` of `EINTR` that some earlier call left behind for an interrupted read,
/// and does not notice the end of the input any more.
struct LineReader {
    private var bytes: [UInt8] = []
    private var position = 0
    private var isAtEnd = false

    /// The next line without its line feed; nil at the end of the input.
    mutating func next() -> [UInt8]? {
        var searched = position
        while true {
            if let end = bytes[searched...].firstIndex(of: 0x0A) {
                defer { position = end + 1 }
                return Array(bytes[position..<end])
            }
            searched = bytes.count
            if isAtEnd {
                defer { position = bytes.count }
                return position < bytes.count ? Array(bytes[position...]) : nil
            }
            bytes.removeFirst(position)
            searched -= position
            position = 0
            fill()
        }
    }

    private mutating func fill() {
        let capacity = 1 << 16
        let chunk = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            var result: Int
            repeat { result = read(STDIN_FILENO, buffer.baseAddress!, capacity) } while result < 0 && errno == EINTR
            count = max(0, result)
        }
        if chunk.isEmpty { isAtEnd = true } else { bytes += chunk }
    }
}
