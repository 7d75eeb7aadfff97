/// How observed sections differ from those delivered before: exact and ascending.
///
/// Remove the rows at `deletions` and the sections at `sectionsToDelete` (both where they were), then insert the empty
/// sections at `sectionsToInsert` and the rows at `insertions` (both where they are). The rows of a removed section are
/// not in `deletions`, those of a new one are in `insertions`.
package struct SectionDelta: Sendable, Equatable {
    package var deletions: [SectionPosition] = []
    package var insertions: [SectionPosition] = []
    /// Where the rows were that stayed and were written to.
    package var modifications: [SectionPosition] = []
    package var sectionsToDelete: [Int] = []
    package var sectionsToInsert: [Int] = []

    package init() {}

    /// Whether nothing observable happened.
    package var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && sectionsToDelete.isEmpty
            && sectionsToInsert.isEmpty
    }

    /// Translates the difference of the rows.
    ///
    /// A row whose section changed is a deletion and an insertion. Sections that changed their order are removed and
    /// inserted again, as few of them as possible.
    package init(from old: SectionLayout, to new: SectionLayout, rows delta: CollectionDelta) {
        let common = old.sections.filter { new.section(of: $0) != nil }
        let unmoved = LongestIncreasingRun.positions(in: common.map { new.section(of: $0)! }).map { common[$0] }
        var isKept = [Bool](repeating: false, count: max(old.sections.max() ?? -1, new.sections.max() ?? -1) + 1)
        for number in unmoved { isKept[number] = true }
        sectionsToDelete = old.sections.indices.filter { !isKept[old.sections[$0]] }
        sectionsToInsert = new.sections.indices.filter { !isKept[new.sections[$0]] }

        var deleted = 0
        var inserted = 0
        var modified = 0
        var unasked = 0
        var oldRow = 0
        var newRow = 0
        while oldRow < old.numbers.count || newRow < new.numbers.count {
            if deleted < delta.deletions.count, delta.deletions[deleted] == oldRow {
                if isKept[old.numbers[oldRow]] { deletions.append(old.position(of: oldRow)) }
                deleted += 1
                oldRow += 1
                continue
            }
            if inserted < delta.insertions.count, delta.insertions[inserted] == newRow {
                insertions.append(new.position(of: newRow))
                inserted += 1
                newRow += 1
                continue
            }
            guard oldRow < old.numbers.count, newRow < new.numbers.count else { break }
            var isModified = modified < delta.modifications.count && delta.modifications[modified] == oldRow
            if isModified { modified += 1 }
            if unasked < delta.unasked.count, delta.unasked[unasked] == oldRow {
                unasked += 1
                isModified = false
            }
            let number = old.numbers[oldRow]
            if number == new.numbers[newRow], isKept[number] {
                if isModified { modifications.append(old.position(of: oldRow)) }
            } else {
                if isKept[number] { deletions.append(old.position(of: oldRow)) }
                insertions.append(new.position(of: newRow))
            }
            oldRow += 1
            newRow += 1
        }
        deletions.sort()
        insertions.sort()
        modifications.sort()
    }

    /// What of it concerns one section, which was or is at these places.
    package func restricted(from old: Int?, to new: Int?) -> SectionDelta {
        var result = SectionDelta()
        result.deletions = deletions.filter { $0.section == old }
        result.modifications = modifications.filter { $0.section == old }
        result.insertions = insertions.filter { $0.section == new }
        result.sectionsToDelete = sectionsToDelete.filter { $0 == old }
        result.sectionsToInsert = sectionsToInsert.filter { $0 == new }
        return result
    }
}
