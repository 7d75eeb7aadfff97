/// A value lent for the length of a call, as the typed paths pass it: nothing in it is allocated or counted.
@frozen
package enum BorrowedValue {
    case null
    /// An int, a bool (0 or 1), or the row key of a linked object.
    case int(Int64)
    case float(Float)
    /// A double, or a date in seconds since the reference date.
    case double(Double)
    /// A string's UTF-8, data, an ObjectId's 12, a UUID's or Decimal128's 16 bytes, or what `MixedFormat` describes.
    case bytes(UnsafeRawBufferPointer)

    @inlinable package var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}
