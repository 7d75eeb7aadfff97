import Foundation
import RealmTestSupport

/// What an observer shows, by the rules of `withoutNotifying` in plain Swift: what it was told last, and what commits that left
/// it out did beyond.
///
/// Elements that such a commit adds stand directly behind the element before them that the observer shows; those that it
/// removes are gone; those that it writes to are shown as they are. What others do is not shown until it is told. An element of a
/// list that comes where another one went is written to that place: nothing tells the two apart.
struct ShownElements {
    /// What stands somewhere on the observer's display.
    struct Entry: Equatable {
        var id: PlainText
        /// The section it is shown in.
        var shade: SpecimenValue
        let number: Int
    }

    /// What there is behind the last commit.
    struct Element {
        var id: PlainText
        /// The entry that shows it; nil while others' adding it is not told.
        var entry: Int?
        /// Whether others wrote to it since it was told.
        var isTouched = false
        /// Whether that has to be told, and may be told as a modification.
        var isWritten = false
        var isAsked = false
    }

    let kind: WatchedKind
    private(set) var entries: [Entry]
    private(set) var elements: [Element]
    private var last = 0

    init(_ kind: WatchedKind, at commit: PlainCommit) {
        self.kind = kind
        entries = []
        elements = []
        for id in commit.contents(kind) { elements.append(Element(id: id, entry: show(id, commit, at: entries.count))) }
    }

    var description: String {
        "\(entries.map { "\($0.id)/\($0.shade)\(element(of: $0) == nil ? " gone" : "")" }), there \(elements.map(\.id))"
    }

    /// What an entry shows; nil when others took it away.
    func element(of entry: Entry) -> Element? { elements.first { $0.entry == entry.number } }

    /// Whether nothing is left to tell.
    var isSettled: Bool {
        elements.allSatisfy { $0.entry != nil && !$0.isTouched } && entries.count == elements.count
    }

    /// What is shown behind commits as an observer takes them.
    func applying(_ commits: [PlainCommit]) -> ShownElements {
        var shown = self
        for commit in commits { shown.apply(commit) }
        return shown
    }

    private mutating func apply(_ commit: PlainCommit) {
        let isSilent = commit.silent.contains(kind)
        let (before, after) = (elements, commit.contents(kind))
        elements = after.map { Element(id: $0) }
        var gone: Set<PlainText> = Set(before.map(\.id)).subtracting(after)
        let old = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
        let replaced = kind.isList ? ShownElements.replaced(before.map(\.id), after) : [:]
        for index in elements.indices {
            let id = elements[index].id
            if let known = old[id] ?? replaced[id].map({ old[$0]! }) {
                gone.remove(known.id)
                elements[index] = known
                elements[index].id = id
                note(&elements[index], commit, isNew: known.id != id, isSilent)
            } else if kind == .weights, let entry = entries.first(where: { $0.id == id }) {
                // Names have no places: one that comes again is the same.
                elements[index].entry = entry.number
                note(&elements[index], commit, isNew: true, isSilent)
            }
        }
        guard isSilent else { return }
        entries.removeAll { entry in before.contains { $0.entry == entry.number && gone.contains($0.id) } }
        var place = 0
        for index in elements.indices {
            let id = elements[index].id
            if let number = elements[index].entry {
                guard let found = entries.firstIndex(where: { $0.number == number }) else { continue }
                place = found + 1
                entries[found].id = id
                if commit.written[id] != nil { entries[found].shade = commit.basket.rows[id]!.shade }
            } else if old[id] == nil, replaced[id] == nil {
                elements[index].entry = show(id, commit, at: place)
                place += 1
            }
        }
    }

    private mutating func show(_ id: PlainText, _ commit: PlainCommit, at place: Int) -> Int {
        last += 1
        entries.insert(Entry(id: id, shade: commit.basket.rows[id]?.shade ?? .null, number: last), at: place)
        return last
    }

    /// Notes what others wrote to an element that stays, or that is new in its place.
    private func note(_ element: inout Element, _ commit: PlainCommit, isNew: Bool, _ isSilent: Bool) {
        if isSilent { return }
        let properties = commit.written[element.id] ?? []
        let isOther = isNew || kind == .weights && commit.names.contains(element.id)
        element.isTouched = element.isTouched || isOther || !properties.isEmpty
        guard isOther || !properties.isDisjoint(with: kind.properties) else { return }
        element.isWritten = true
        element.isAsked = true
    }

    /// The elements that come where others went, as many for as many between elements that stay, and those that went there.
    private static func replaced(_ old: [PlainText], _ new: [PlainText]) -> [PlainText: PlainText] {
        let stays = Set(old).intersection(new)
        func gaps(_ ids: [PlainText]) -> [ArraySlice<PlainText>] {
            ids.split(omittingEmptySubsequences: false) { stays.contains($0) }
        }
        var replaced: [PlainText: PlainText] = [:]
        for (went, came) in zip(gaps(old), gaps(new)) where went.count == came.count {
            for (one, other) in zip(went, came) { replaced[other] = one }
        }
        return replaced
    }
}
