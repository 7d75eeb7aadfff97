import ActorRealm
import Dispatch
import Foundation
import RealmTestSupport

/// An actor that observers belong to, with commits of its own that leave some of them out.
actor LeavingOutWatcher {
    private var realm: Realm!
    private let log: LeavingOutLog
    private let elsewhere: QueueWriter
    private var tokens: [WatchedKind: NotificationToken] = [:]
    private var shown: [WatchedKind: ShownElements] = [:]
    private var told: [WatchedKind: Int] = [:]
    private(set) var violations: [String] = []
    private(set) var deliveries = 0

    init(_ configuration: Realm.Configuration, _ log: LeavingOutLog, _ elsewhere: QueueWriter) async throws {
        self.log = log
        self.elsewhere = elsewhere
        realm = try await Realm(configuration: configuration, actor: self)
    }

    /// Whether every observer was told of a commit.
    func knows(_ number: Int) -> Bool { WatchedKind.allCases.allSatisfy { told[$0] == number } }
    var standing: [WatchedKind: Int] { told }

    func stop() { tokens = [:] }

    // MARK: Writing

    /// Several writes, of others and of its own, without letting go of the actor.
    func burst() throws {
        for _ in 0..<log.random(1..<(log.random(0..<8) == 0 ? 40 : 6)) {
            switch log.random(0..<5) {
            case 0, 1: try elsewhere.write(log)
            case 2: try realm.write { log.commit(in: realm, leavingOut: []) }
            default: try writeSilently()
            }
        }
    }

    private func writeSilently() throws {
        let kinds = log.randomKinds()
        try realm.write(withoutNotifying: kinds.compactMap { tokens[$0] }) {
            log.commit(in: realm, leavingOut: kinds)
        }
    }

    func writeLater(silently: Bool) async throws {
        let kinds = silently ? log.randomKinds() : []
        try await realm.asyncWrite(withoutNotifying: kinds.compactMap { tokens[$0] }) {
            log.commit(in: realm, leavingOut: kinds)
        }
    }

    func touchAll() throws {
        try realm.write { log.commit(in: realm, leavingOut: [], touchesAll: true) }
    }

    // MARK: Observing

    func begin() throws {
        try realm.write { for _ in 0..<4 { log.commit(in: realm, leavingOut: []) } }
        let berries = realm.objects(Berry.self)
        let basket = realm.objects(Basket.self).first!
        let byID = berries.sorted(byKeyPath: "id")
        let order = [SortDescriptor(keyPath: "id")]
        tokens[.filtered] = berries.where { $0.rank < 5 }.sorted(byKeyPath: "id").observe { self.rows(.filtered, $0) }
        tokens[.ranked] = berries.sorted(by: [SortDescriptor(keyPath: "rank"), SortDescriptor(keyPath: "id")])
            .observe { self.rows(.ranked, $0) }
        tokens[.distinct] = byID.distinct(by: ["shade"]).observe { self.rows(.distinct, $0) }
        tokens[.limited] = byID.limit(4).observe { self.rows(.limited, $0) }
        tokens[.list] = basket.berries.observe { self.rows(.list, $0) }
        tokens[.labels] = basket.labels.observe { change in
            self.receive(.labels, change) { $0.map { (PlainText($0), .null) } }
        }
        tokens[.weights] = basket.weights.observe { self.names($0) }
        let sections = berries.sectioned(bySendable: { $0.shade }, sortDescriptors: order)
        tokens[.sections] = sections.observe { self.sections(.sections, $0) }
        tokens[.sectionsOfNotes] = sections.observe(keyPaths: ["note"]) { self.sections(.sectionsOfNotes, $0) }
        tokens[.sectionsByKey] =
            berries
            .sectioned(by: \.shade, sortDescriptors: [SortDescriptor(keyPath: "shade"), SortDescriptor(keyPath: "id")])
            .observe { self.sections(.sectionsByKey, $0) }
    }

    private func rows<C: RealmCollection>(_ kind: WatchedKind, _ change: RealmCollectionChange<C>)
    where C.Element == Berry {
        receive(kind, change) { $0.map { (PlainText($0.id), Self.shade($0.shade)) } }
    }

    private static func shade(_ value: AnyRealmValue) -> SpecimenValue { SpecimenValue(value)! }

    private func receive<C>(
        _ kind: WatchedKind,
        _ change: RealmCollectionChange<C>,
        _ read: (C) -> [(id: PlainText, shade: SpecimenValue)]
    ) {
        switch change {
        case .initial(let collection): begin(kind, read(collection).map(\.id))
        case .update(let collection, let deletions, let insertions, let modifications):
            let now = read(collection)
            check(kind, now.map(\.id), "-\(deletions) +\(insertions) *\(modifications)") { shown in
                shown.violation(
                    of: ToldRows(
                        now: now,
                        deletions: deletions,
                        insertions: insertions,
                        modifications: modifications
                    )
                )
            }
        case .error(let error): violations.append("\(kind): \(error)")
        }
    }

    private func names(_ change: RealmMapChange<Map<String, Int>>) {
        func names(_ map: Map<String, Int>) -> [PlainText] { map.map { PlainText($0.key) }.sorted() }
        switch change {
        case .initial(let map): begin(.weights, names(map))
        case .update(let map, let deletions, let insertions, let modifications):
            check(.weights, names(map), "-\(deletions) +\(insertions) *\(modifications)") { shown in
                shown.violation(
                    ofNames: Set(names(map)),
                    deleted: Set(deletions.map { PlainText($0) }),
                    inserted: Set(insertions.map { PlainText($0) }),
                    modified: Set(modifications.map { PlainText($0) })
                )
            }
        case .error(let error): violations.append("map: \(error)")
        }
    }

    private func sections(_ kind: WatchedKind, _ change: SectionedResultsChange<SectionedResults<AnyRealmValue, Berry>>)
    {
        func read(_ sections: SectionedResults<AnyRealmValue, Berry>)
            -> [(key: SpecimenValue, rows: [PlainText])]
        {
            sections.map { (key: Self.shade($0.key), rows: $0.map { PlainText($0.id) }) }
        }
        switch change {
        case .initial(let sections): begin(kind, read(sections).flatMap(\.rows).sorted())
        case .update(let sections, let deletions, let insertions, let modifications, let inserted, let deleted):
            let now = read(sections)
            func paths(_ all: [IndexPath]) -> [[Int]] { all.map { [$0.section, $0.item] } }
            let told = ToldSections(
                now: now,
                deletions: paths(deletions),
                insertions: paths(insertions),
                modifications: paths(modifications),
                sectionsToInsert: Array(inserted),
                sectionsToDelete: Array(deleted)
            )
            let misplaced = sections.contains { section in
                section.contains { !Self.shade($0.shade).hasPlace(of: Self.shade(section.key)) }
            }
            check(kind, now.flatMap(\.rows).sorted(), "\(told)") { shown in
                if misplaced { return "a row stands under another key" }
                return shown.kind.isExact ? shown.violation(of: told) : nil
            }
        }
    }

    // MARK: Checking

    private var number: Int { realm.objects(Basket.self).first!.commit }

    private func begin(_ kind: WatchedKind, _ contents: [PlainText]) {
        deliveries += 1
        let number = number
        let commit = log.commits[number]
        if told[kind] != nil { violations.append("\(kind): begins anew at \(number)") }
        if contents != commit.contents(kind) { violations.append("\(kind): begins with \(contents)") }
        shown[kind] = ShownElements(kind, at: commit)
        told[kind] = number
    }

    private func check(
        _ kind: WatchedKind,
        _ contents: [PlainText],
        _ text: @autoclosure () -> String,
        _ violation: (ShownElements) -> String?
    ) {
        deliveries += 1
        let number = number
        let commits = log.commits
        guard let base = shown[kind], let before = told[kind] else {
            return violations.append("\(kind): no beginning")
        }
        guard number > before else { return violations.append("\(kind): told of \(number) after \(before)") }
        if contents != commits[number].contents(kind) {
            violations.append("\(kind): \(contents) instead of \(commits[number].contents(kind))")
        }
        let path = commits[(before + 1)...number]
        let shown = base.applying(PlainCommit.joined(path, for: kind))
        // Between two commits of others nothing may be left to tell: an observer may begin anew there.
        if let found = violation(shown), !restarts(base, path, kind).contains(where: { violation($0) == nil }) {
            let steps =
                path
                .map { commit in
                    let what = commit.contents(kind).map { "\($0)/\(commit.basket.rows[$0]?.shade ?? .null)" }
                    let who = commit.silent.contains(kind) ? "silent" : "others"
                    return "  \(who) \(what) wrote \(commit.written) \(commit.names)"
                }
            violations.append(
                "\(kind): \(found)\n  told  \(base.description)\n" + steps.joined(separator: "\n")
                    + "\n  shown \(shown.description)\n  by \(text())"
            )
        }
        self.shown[kind] = ShownElements(kind, at: commits[number])
        told[kind] = number
    }
}

extension LeavingOutWatcher {
    /// What an observer shows that was taken over commits of others, to where nothing was left to tell, before the later ones.
    ///
    /// Which elements of a list come where others went depends on that alone.
    private func restarts(_ base: ShownElements, _ path: ArraySlice<PlainCommit>, _ kind: WatchedKind)
        -> [ShownElements]
    {
        var found: [ShownElements] = []
        var starts: [(ShownElements, Int)] = [(base, path.startIndex)]
        var known: Set<Int> = []
        while let (start, first) = starts.popLast() {
            for end in first..<path.endIndex - 1 where !known.contains(end) {
                let shown = start.applying(PlainCommit.joined(path[first...end], for: kind))
                guard shown.isSettled else { continue }
                known.insert(end)
                let restarted = ShownElements(kind, at: path[end])
                starts.append((restarted, end + 1))
                found.append(restarted.applying(PlainCommit.joined(path[(end + 1)...], for: kind)))
            }
        }
        return found
    }
}

/// Writes on a queue of its own, whoever asks and waits.
final class QueueWriter: @unchecked Sendable {
    private let queue = DispatchQueue(label: "others")
    private var realm: Realm!

    init(_ configuration: Realm.Configuration) throws {
        try queue.sync { realm = try Realm(configuration: configuration, queue: queue) }
    }

    func write(_ log: LeavingOutLog) throws {
        try queue.sync { try realm.write { log.commit(in: realm, leavingOut: []) } }
    }

    func close() { queue.sync { realm = nil } }
}
