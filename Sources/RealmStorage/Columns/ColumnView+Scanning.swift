/// Whole-column operations: vector loops per width.
extension ColumnView {
    /// Writes the values of an int column to `buffer[0..<count]` (null rows: any value).
    package func expandInts(into buffer: UnsafeMutablePointer<Int64>) { preconditionFailure("stub") }

    /// Writes the values of a double column to `buffer[0..<count]` (null rows: any value).
    package func expandDoubles(into buffer: UnsafeMutablePointer<Double>) { preconditionFailure("stub") }

    /// The number of non-null values of an int column with `lower <= value <= upper`.
    package func countInts(from lower: Int64, through upper: Int64) -> Int { preconditionFailure("stub") }

    /// Sets in `bitmap[0..<bitmapWordCount]` the bits of the rows of an int column that are not null and lie in
    /// `lower...upper`; all other bits are cleared.
    package func filterInts(from lower: Int64, through upper: Int64, into bitmap: UnsafeMutablePointer<UInt64>) {
        preconditionFailure("stub")
    }

    /// Like `filterInts`, for `lower <= value && value <= upper` on a double column; NaN is in no range.
    package func filterDoubles(from lower: Double, through upper: Double, into bitmap: UnsafeMutablePointer<UInt64>) {
        preconditionFailure("stub")
    }

    /// The sum of the non-null values of an int column, wrapping around.
    package func sumInts() -> Int64 { preconditionFailure("stub") }

    /// The number of null rows.
    package func countNulls() -> Int { preconditionFailure("stub") }
}
