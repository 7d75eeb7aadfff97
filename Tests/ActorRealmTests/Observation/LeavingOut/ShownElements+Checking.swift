import Foundation
import RealmTestSupport

/// A change of a collection as an observer was told it.
struct ToldRows {
    /// What is there now, and in which section.
    var now: [(id: PlainText, shade: SpecimenValue)]
    var deletions: [Int]
    var insertions: [Int]
    var modifications: [Int]
}

extension ShownElements {
    /// What there is to say against a change that was told; nil for nothing.
    func violation(of told: ToldRows) -> String? {
        let inserted = Set(told.insertions)
        let deleted = Set(told.deletions)
        guard inserted.isSubset(of: told.now.indices), deleted.isSubset(of: entries.indices) else {
            return "places that there are not"
        }
        guard entries.count - deleted.count == told.now.count - inserted.count else {
            return "\(entries.count) shown, -\(deleted.count) +\(inserted.count) for \(told.now.count)"
        }
        if kind.isExact {
            let gone = entries.indices.filter { element(of: entries[$0]) == nil }
            if gone != told.deletions { return "\(gone) are gone" }
            let new = elements.indices.filter { elements[$0].entry == nil }
            if new != told.insertions { return "\(new) are new" }
        }
        let kept = entries.indices.filter { !deleted.contains($0) }
        let survivors = told.now.indices.filter { !inserted.contains($0) }
        var survivor: [Int: PlainText] = [:]
        for (old, new) in zip(kept, survivors) {
            survivor[old] = told.now[new].id
            if kind.isExact, element(of: entries[old])?.id != told.now[new].id { return "\(old) leads elsewhere" }
        }
        var toldIDs = Set(inserted.map { told.now[$0].id })
        for place in told.modifications {
            guard let element = elements.first(where: { $0.id == survivor[place] }) else {
                return "modification \(place) is no survivor"
            }
            if !element.isTouched { return "\(element.id) is told as modified, though nobody else touched it" }
            if !element.isAsked { return "\(element.id) is told as modified, of which nobody asked" }
            toldIDs.insert(element.id)
        }
        if let one = elements.first(where: { $0.isWritten && !toldIDs.contains($0.id) }) {
            return "what others wrote to \(one.id) is not told"
        }
        return nil
    }

    /// The sections that are shown.
    var sections: [(key: SpecimenValue, rows: [Entry])] {
        var sections: [(key: SpecimenValue, rows: [Entry])] = []
        for entry in entries {
            if let place = sections.firstIndex(where: { $0.key.hasPlace(of: entry.shade) }) {
                sections[place].rows.append(entry)
            } else {
                sections.append((entry.shade, [entry]))
            }
        }
        return sections
    }
}

/// A change of sections as an observer was told it.
struct ToldSections {
    var now: [(key: SpecimenValue, rows: [PlainText])]
    var deletions: [[Int]]
    var insertions: [[Int]]
    var modifications: [[Int]]
    var sectionsToInsert: [Int]
    var sectionsToDelete: [Int]
}

extension ShownElements {
    /// What there is to say against a change of sections that was told; nil for nothing.
    func violation(of told: ToldSections) -> String? {
        var sections = sections
        func holds(_ path: [Int]) -> Bool {
            sections.indices.contains(path[0]) && sections[path[0]].rows.indices.contains(path[1])
        }
        var modified: Set<PlainText> = []
        for path in told.modifications + told.deletions {
            guard holds(path) else { return "\(path) is not shown" }
            let entry = sections[path[0]].rows[path[1]]
            let element = element(of: entry)
            if element?.isTouched == false { return "\(entry.id) is told, though nobody else touched it" }
            guard told.modifications.contains(path) else { continue }
            if element?.isAsked != true { return "\(entry.id) is told as modified, of which nobody asked" }
            modified.insert(entry.id)
        }
        for path in told.deletions.reversed() { sections[path[0]].rows.remove(at: path[1]) }
        for section in told.sectionsToDelete.reversed() {
            guard sections.indices.contains(section) else { return "section \(section) is not shown" }
            sections.remove(at: section)
        }
        for section in told.sectionsToInsert {
            guard section <= sections.count, section < told.now.count else { return "section \(section) is not there" }
            sections.insert((told.now[section].key, []), at: section)
        }
        let hasKeys = zip(sections, told.now).allSatisfy { $0.key.hasPlace(of: $1.key) }
        if sections.count != told.now.count || !hasKeys {
            return "sections \(sections.map(\.key)) for \(told.now.map(\.key))"
        }
        var rows = sections.map { $0.rows.map(\.id) }
        for path in told.insertions {
            guard path[1] <= rows[path[0]].count, path[1] < told.now[path[0]].rows.count else {
                return "\(path) is not there"
            }
            let id = told.now[path[0]].rows[path[1]]
            rows[path[0]].insert(id, at: path[1])
            modified.insert(id)
        }
        for (shown, now) in zip(rows, told.now) where shown != now.rows {
            return "section \(now.key) is \(shown) for \(now.rows)"
        }
        // The rows of sections that come anew are not told one by one.
        for section in told.sectionsToInsert { modified.formUnion(told.now[section].rows) }
        if let one = elements.first(where: { $0.isWritten && !modified.contains($0.id) }) {
            return "what others wrote to \(one.id) is not told"
        }
        return nil
    }

    /// What there is to say against a change of a map that was told; nil for nothing.
    func violation(
        ofNames now: Set<PlainText>,
        deleted: Set<PlainText>,
        inserted: Set<PlainText>,
        modified: Set<PlainText>
    ) -> String? {
        let shown = Set(entries.map(\.id))
        if deleted != shown.subtracting(now) { return "\(deleted) went, of \(shown), for \(now)" }
        if inserted != now.subtracting(shown) { return "\(inserted) came to \(shown), for \(now)" }
        let written = Set(elements.filter { $0.isWritten && $0.entry != nil }.map(\.id))
        if modified != written { return "\(modified) are told as modified instead of \(written)" }
        return nil
    }
}
