extension Array {
    /// Merges elements that follow each other: two and two, and then what came of that.
    ///
    /// Each element takes part in log *n* merges of *n* elements. Merged one after the other, the first would take part in all.
    ///
    /// - Parameter merge: Adds what follows an element to it.
    /// - Returns: one element for all; nil for none.
    package func mergedInPairs(_ merge: (inout Element, Element) -> Void) -> Element? {
        var level = self
        while level.count > 1 {
            var next: [Element] = []
            next.reserveCapacity((level.count + 1) / 2)
            for index in stride(from: 0, to: level.count, by: 2) {
                var both = level[index]
                if index + 1 < level.count { merge(&both, level[index + 1]) }
                next.append(both)
            }
            level = next
        }
        return level.first
    }
}
