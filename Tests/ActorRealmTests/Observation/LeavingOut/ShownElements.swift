import Foundation

/// What an observer shows, by the rules of `withoutNotifying` in plain Swift: what it was told last, and what commits that left
/// it out did beyond.
///
/// Elements that such a commit adds stand directly behind the element before them that the observer shows; those that it
/// removes are gone; those that it writes to are shown as they are. What others do is not shown until it is told.
struct ShownElements {
    struct Entry: Equatable {
        var id: String
        /// The section it is shown in.
        var shade: Int
        /// Whether others took it away, which was not told.
        var isStale = false
    }

    let kind: WatchedKind
    private(set) var entries: [Entry]
    /// Elements that others wrote to, added or took away since they were told.
    private(set) var touched: Set<String> = []
    /// Elements that others wrote to while they were there: that has to be told.
    private(set) var written: Set<String> = []
    /// Elements of which others wrote properties that were asked for.
    private(set) var asked: Set<String> = []
    /// Whether others took something away that is shown.
    private(set) var hasStale = false
    private var contents: [String]
    /// What others took away since the last commit that was left out.
    private var gone: Set<String> = []

    init(_ kind: WatchedKind, at commit: PlainCommit) {
        self.kind = kind
        contents = commit.contents(kind)
        entries = contents.map { Entry(id: $0, shade: commit.basket.rows[$0]?.shade ?? 0) }
    }

    var description: String { "\(entries.map { "\($0.id)/\($0.shade)" })" }

    mutating func apply(_ commit: PlainCommit) {
        let after = commit.contents(kind)
        let (old, new) = (Set(contents), Set(after))
        if commit.silent.contains(kind) {
            leaveOut(commit, after, left: old.subtracting(new), entered: new.subtracting(old))
        } else {
            follow(commit, left: old.subtracting(new), entered: new.subtracting(old), stays: old.intersection(new))
        }
        written.formIntersection(new)
        contents = after
    }

    private mutating func leaveOut(_ commit: PlainCommit, _ after: [String], left: Set<String>, entered: Set<String>) {
        gone = []
        entries.removeAll { !$0.isStale && left.contains($0.id) }
        var place = 0
        for id in after {
            if entered.contains(id) {
                entries.insert(Entry(id: id, shade: commit.basket.rows[id]?.shade ?? 0), at: place)
                place += 1
            } else if let index = entries.firstIndex(where: { $0.id == id && !$0.isStale }) {
                place = index + 1
            }
        }
        for id in commit.written.keys {
            guard let index = entries.firstIndex(where: { $0.id == id && !$0.isStale }) else { continue }
            entries[index].shade = commit.basket.rows[id]!.shade
        }
    }

    private mutating func follow(_ commit: PlainCommit, left: Set<String>, entered: Set<String>, stays: Set<String>) {
        for index in entries.indices {
            let id = entries[index].id
            if left.contains(id), !entries[index].isStale {
                entries[index].isStale = true
                hasStale = true
                gone.insert(id)
            } else if entered.contains(id), gone.contains(id), entries[index].isStale {
                entries[index].isStale = false
            }
        }
        touched.formUnion(left)
        touched.formUnion(entered)
        touched.formUnion(commit.written.keys)
        touched.formUnion(commit.names)
        for (id, properties) in commit.written where !properties.isDisjoint(with: kind.properties) { asked.insert(id) }
        for (id, properties) in commit.written
        where stays.contains(id) && !properties.isDisjoint(with: kind.properties) {
            written.insert(id)
        }
        if kind == .weights { written.formUnion(commit.names.intersection(stays)) }
    }
}
