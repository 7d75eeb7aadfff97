import Foundation

/// The lines of a byte source, one at a time, in memory that does not grow with the source.
package final class LineReader {
    private let source: ByteSource
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)
    private var start = 0
    private var end = 0
    private var isAtEnd = false

    /// Reads from the beginning of the source.
    package init(_ source: ByteSource) {
        self.source = source
    }

    /// Calls the function with the next line, without its end, or returns nil at the end of the source.
    package func withNextLine<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) throws -> Result? {
        var searched = start
        while true {
            if let newline = indexOfNewline(from: searched) {
                let line = start..<newline
                start = newline + 1
                return try call(body, line)
            }
            searched = end
            if isAtEnd {
                guard start < end else { return nil }
                let line = start..<end
                start = end
                return try call(body, line)
            }
            searched -= start
            try fill()
            searched += start
        }
    }

    private func call<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result, _ line: Range<Int>) rethrows
        -> Result
    {
        try buffer.withUnsafeBufferPointer { try body(UnsafeBufferPointer(rebasing: $0[line])) }
    }

    private func indexOfNewline(from position: Int) -> Int? {
        guard position < end else { return nil }
        return buffer.withUnsafeBytes { bytes -> Int? in
            guard let base = bytes.baseAddress, let found = memchr(base + position, 0x0A, end - position) else {
                return nil
            }
            return UnsafeRawPointer(found) - base
        }
    }

    private func fill() throws {
        if start > 0 {
            let length = end - start
            buffer.withUnsafeMutableBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                memmove(base, base + start, length)
            }
            start = 0
            end = length
        }
        if end == buffer.count { buffer.append(contentsOf: repeatElement(0, count: buffer.count)) }
        let used = end
        let count = try buffer.withUnsafeMutableBytes { bytes in
            try source.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[used...]))
        }
        end += count
        isAtEnd = count == 0
    }
}
