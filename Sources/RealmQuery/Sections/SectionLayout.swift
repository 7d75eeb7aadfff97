/// The rows of a collection divided into sections, in the order in which the sections first appear.
///
/// Rows are told apart by numbers: those with the same number are one section.
package struct SectionLayout: Sendable {
    /// The number of each section's rows, in the order of the sections.
    package let sections: [Int]
    /// The number of each row's section.
    package let numbers: [Int]
    /// Where each section's rows begin in `rows`, and the end of the last.
    package let starts: [Int]
    /// The rows, section by section, each section in the order of the collection.
    package let rows: [Int]
    /// The place of each row in its section.
    private let ranks: [Int]
    /// The place among the sections of each number; -1 for numbers that no row has.
    private let places: [Int]

    /// Divides rows by their numbers, which are small and not negative.
    package init(_ numbers: [Int]) {
        self.numbers = numbers
        var places = [Int](repeating: -1, count: (numbers.max() ?? -1) + 1)
        var sections: [Int] = []
        var counts: [Int] = []
        var ranks = [Int](repeating: 0, count: numbers.count)
        for (row, number) in numbers.enumerated() {
            if places[number] < 0 {
                places[number] = sections.count
                sections.append(number)
                counts.append(0)
            }
            ranks[row] = counts[places[number]]
            counts[places[number]] += 1
        }
        var starts = [0]
        starts.reserveCapacity(counts.count + 1)
        for count in counts { starts.append(starts.last! + count) }
        var rows = [Int](repeating: 0, count: numbers.count)
        for (row, number) in numbers.enumerated() { rows[starts[places[number]] + ranks[row]] = row }
        self.places = places
        self.sections = sections
        self.starts = starts
        self.ranks = ranks
        self.rows = rows
    }

    /// The rows of a section, in order.
    package func rows(of section: Int) -> ArraySlice<Int> { rows[starts[section]..<starts[section + 1]] }

    /// The place of a number among the sections; nil when no row has it.
    package func section(of number: Int) -> Int? {
        number < places.count && places[number] >= 0 ? places[number] : nil
    }

    /// Where a row is.
    package func position(of row: Int) -> SectionPosition {
        SectionPosition(section: places[numbers[row]], item: ranks[row])
    }
}

/// The place of an element among sections.
package struct SectionPosition: Sendable, Hashable, Comparable {
    package var section: Int
    package var item: Int

    package init(section: Int, item: Int) {
        self.section = section
        self.item = item
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.section, left.item) < (right.section, right.item)
    }
}
