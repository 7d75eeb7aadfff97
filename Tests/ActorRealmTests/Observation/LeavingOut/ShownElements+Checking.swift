import Foundation

/// A change of a collection as an observer was told it.
struct ToldRows {
    /// What is there now, and in which section.
    var now: [(id: String, shade: Int)]
    var deletions: [Int]
    var insertions: [Int]
    var modifications: [Int]
}

extension ShownElements {
    /// What there is to say against a change that was told; nil for nothing.
    func violation(of told: ToldRows) -> String? {
        // In a list an element that comes where another one went is a modification of that place: what was put there beside it
        // stands in several ways.
        if kind.isList, hasStale { return nil }
        let inserted = Set(told.insertions)
        guard inserted.isSubset(of: told.now.indices), Set(told.deletions).isSubset(of: entries.indices) else {
            return "places that there are not"
        }
        let survivors = told.now.indices.filter { !inserted.contains($0) }.map { told.now[$0].id }
        guard entries.count - told.deletions.count == survivors.count else {
            return "\(entries.count) shown, -\(told.deletions.count) +\(inserted.count) for \(told.now.count)"
        }
        let kept = entries.indices.filter { !told.deletions.contains($0) }
        if kind.isExact, kept.map({ entries[$0].id }) != survivors { return "leads elsewhere" }
        if let unknown = survivors.first(where: { id in !entries.contains { $0.id == id } }) {
            return "\(unknown) was never told"
        }
        let shown = Set(entries.map(\.id))
        for index in inserted where shown.contains(told.now[index].id) && !touched.contains(told.now[index].id) {
            return "\(told.now[index].id) is told as new, though nobody else touched it"
        }
        var modified: Set<String> = []
        for place in told.modifications {
            guard let rank = kept.firstIndex(of: place) else { return "modification \(place) is no survivor" }
            modified.insert(survivors[rank])
        }
        if let one = modified.subtracting(touched).first {
            return "\(one) is told as modified, though nobody else touched it"
        }
        let added = Set(inserted.map { told.now[$0].id })
        if let one = written.subtracting(modified).subtracting(added).first {
            return "what others wrote to \(one) is not told"
        }
        return nil
    }

    /// The sections that are shown.
    var sections: [(key: Int, rows: [String?])] {
        var sections: [(key: Int, rows: [String?])] = []
        for entry in entries {
            if let place = sections.firstIndex(where: { $0.key == entry.shade }) {
                sections[place].rows.append(entry.id)
            } else {
                sections.append((entry.shade, [entry.id]))
            }
        }
        return sections
    }
}

/// A change of sections as an observer was told it.
struct ToldSections {
    var now: [(key: Int, rows: [String])]
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
        for path in told.modifications + told.deletions {
            guard holds(path), let id = sections[path[0]].rows[path[1]] else { return "\(path) is not shown" }
            if !touched.contains(id) { return "\(id) is told, though nobody else touched it" }
        }
        var modified = Set(told.modifications.map { sections[$0[0]].rows[$0[1]]! })
        if let one = modified.subtracting(asked).first { return "\(one) is told as modified, of which nobody asked" }
        for path in told.deletions.reversed() { sections[path[0]].rows.remove(at: path[1]) }
        for section in told.sectionsToDelete.reversed() {
            guard sections.indices.contains(section) else { return "section \(section) is not shown" }
            sections.remove(at: section)
        }
        for section in told.sectionsToInsert {
            guard section <= sections.count, section < told.now.count else { return "section \(section) is not there" }
            sections.insert((told.now[section].key, []), at: section)
        }
        if sections.map(\.key) != told.now.map(\.key) {
            return "sections \(sections.map(\.key)) for \(told.now.map(\.key))"
        }
        for path in told.insertions {
            guard path[1] <= sections[path[0]].rows.count, path[1] < told.now[path[0]].rows.count else {
                return "\(path) is not there"
            }
            let id = told.now[path[0]].rows[path[1]]
            sections[path[0]].rows.insert(id, at: path[1])
            modified.insert(id)
        }
        for (section, now) in zip(sections, told.now) where section.rows != now.rows {
            return "section \(now.key) is \(section.rows.map { $0! }) for \(now.rows)"
        }
        // The rows of sections that come anew are not told one by one.
        for section in told.sectionsToInsert { modified.formUnion(told.now[section].rows) }
        if let one = written.subtracting(modified).first { return "what others wrote to \(one) is not told" }
        return nil
    }

    /// What there is to say against a change of a map that was told; nil for nothing.
    func violation(ofNames now: Set<String>, deleted: Set<String>, inserted: Set<String>, modified: Set<String>)
        -> String?
    {
        let shown = Set(entries.map(\.id))
        if deleted != shown.subtracting(now) { return "\(deleted) went, of \(shown), for \(now)" }
        if inserted != now.subtracting(shown) { return "\(inserted) came to \(shown), for \(now)" }
        if let one = modified.subtracting(touched).first { return "\(one) is told, though nobody else touched it" }
        if let one = written.intersection(shown).subtracting(modified).first {
            return "what others wrote to \(one) is not told"
        }
        return nil
    }
}
