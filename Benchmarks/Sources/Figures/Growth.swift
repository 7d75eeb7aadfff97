/// How a figure of ours changes with the size of the file, beside what is asked of it.
package struct Growth: CustomStringConvertible {
    package var row: RowIdentifier
    /// The times as much that are allowed at many objects.
    package var limit: Double
    package var few: Samples
    package var many: Samples

    package init(_ row: RowIdentifier, limit: Double, few: Samples, many: Samples) {
        self.row = row
        self.limit = limit
        self.few = few
        self.many = many
    }

    /// How many times as much it takes at many objects; more than 1 is worse.
    package var ratio: Double { row.isHigherBetter ? few.median / many.median : many.median / few.median }

    /// Whether the median is above the limit, and the rounds of both lie apart by more than that as well.
    ///
    /// A figure whose rounds overlap within the limit is not told from one that meets it.
    package var isAboveLimit: Bool {
        let least = row.isHigherBetter ? few.minimum / many.maximum : many.minimum / few.maximum
        return ratio > limit && least > limit
    }

    package var description: String {
        "\(row.rawValue): \(Samples.shown(ratio)) times as much as at few objects, at most \(Samples.shown(limit)) is asked"
    }
}
