#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A string as a key of a dictionary, by the bytes of its UTF-8.
package struct TextKey: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: TextKey, right: TextKey) -> Bool { TextBytes.areEqual(left.text, right.text) }

    package func hash(into hasher: inout Hasher) { TextBytes.hash(text, into: &hasher) }
}

/// Strings by the bytes of their UTF-8, which tells texts apart that Swift's equality takes for the same.
package enum TextBytes {
    /// Below 0 when the left text comes first, 0 when both have the same bytes.
    package static func order(_ left: String, _ right: String) -> Int {
        let found = left.utf8.withContiguousStorageIfAvailable { one in
            right.utf8.withContiguousStorageIfAvailable { other in
                order(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer(other))
            }
        }
        if let found, let found { return found }
        var (one, other) = (left, right)
        return one.withUTF8 { one in
            other.withUTF8 { other in order(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer(other)) }
        }
    }

    /// Whether both have the same bytes.
    package static func areEqual(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && order(left, right) == 0
    }

    package static func hash(_ text: String, into hasher: inout Hasher) {
        hasher.combine(text.utf8.count)
        if text.utf8.withContiguousStorageIfAvailable({ hasher.combine(bytes: UnsafeRawBufferPointer($0)) }) == nil {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let common = min(left.count, right.count)
        if common > 0, let first = left.baseAddress, let second = right.baseAddress {
            let result = memcmp(first, second, common)
            if result != 0 { return result < 0 ? -1 : 1 }
        }
        return left.count < right.count ? -1 : left.count == right.count ? 0 : 1
    }
}
