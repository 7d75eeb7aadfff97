import ActorRealm
import Foundation
import RealmTestSupport
import Synchronization

/// The commits of a random test, in order, and what comes next.
final class LeavingOutLog: Sendable {
    private struct State {
        var random: SplitMix64
        var commits: [PlainCommit]
        /// Berries that were in the list already: who comes back would have moved.
        var listed: Set<PlainText> = []
        /// Other spellings of texts that were given out: Swift takes them for the same.
        var twins: [PlainText] = []

        /// A text that was not there yet.
        mutating func fresh(_ number: Int) -> PlainText {
            if !twins.isEmpty, Bool.random(using: &random) { return twins.removeLast() }
            let beginnings = ["a", "c", "f", "k", "", "a\0", "\u{E9}", "e\u{301}", String(repeating: "x", count: 240)]
            let beginning = beginnings.randomElement(using: &random)!
            switch beginning {
            case "\u{E9}":
                twins += ["\u{E9}", "e\u{301}"].map { PlainText("\($0)\(100_000 + number)") }
                return twins.remove(at: twins.count - .random(in: 1...2, using: &random))
            default: return PlainText("\(beginning)\(100_000 + number)")
            }
        }
    }

    /// One thing that a commit does.
    enum Action: Sendable {
        case add(PlainText, PlainBasket.Row)
        case delete(PlainText)
        case setRank(PlainText, SpecimenValue)
        case setShade(PlainText, SpecimenValue)
        case setNote(PlainText, String)
        case insertBerry(PlainText, Int)
        case removeBerry(Int)
        case insertLabel(PlainText, Int)
        case removeLabel(Int)
        case setWeight(PlainText, Int)
        case removeWeight(PlainText)
    }

    private let state: Mutex<State>

    init(seed: UInt64) {
        state = Mutex(State(random: SplitMix64(seed: seed), commits: [PlainCommit(basket: PlainBasket())]))
    }

    var commits: [PlainCommit] { state.withLock { $0.commits } }
    var last: Int { state.withLock { $0.commits.count - 1 } }

    func random(_ range: Range<Int>) -> Int { state.withLock { Int.random(in: range, using: &$0.random) } }

    /// The observers that are left out: all, or some.
    func randomKinds() -> Set<WatchedKind> {
        state.withLock { state in
            if Int.random(in: 0..<3, using: &state.random) > 0 { return Set(WatchedKind.allCases) }
            return Set(WatchedKind.allCases.filter { _ in Bool.random(using: &state.random) })
        }
    }

    /// Makes up the next commit and does it, in the open transaction of a realm.
    func commit(in realm: Realm, leavingOut silent: Set<WatchedKind>, touchesAll: Bool = false) {
        let (actions, number) = state.withLock { state in
            var commit = PlainCommit(silent: silent, basket: state.commits.last!.basket)
            var actions: [Action] = []
            if touchesAll {
                Self.touchAll(&commit, &actions)
            } else {
                var used: Set<PlainText> = []
                for _ in 0..<Int.random(in: 1...3, using: &state.random) {
                    guard let action = Self.action(&state, commit.basket, &used) else { continue }
                    Self.perform(action, &commit)
                    actions.append(action)
                }
            }
            state.commits.append(commit)
            return (actions, state.commits.count - 1)
        }
        let basket = realm.objects(Basket.self).first ?? realm.create(Basket.self)
        basket.commit = number
        for action in actions { Self.perform(action, realm, basket) }
    }

    private static func touchAll(_ commit: inout PlainCommit, _ actions: inout [Action]) {
        func add(_ action: Action) {
            perform(action, &commit)
            actions.append(action)
        }
        for id in commit.basket.rows.keys.sorted() { add(.setNote(id, commit.basket.next("end").string)) }
        let id = commit.basket.next("a")
        add(.add(id, PlainBasket.Row(rank: .double(0), shade: .int(9), note: "")))
        add(.insertBerry(id, 0))
        add(.insertLabel(id, 0))
        add(.setWeight("end", commit.basket.last))
    }

    private static let names: [PlainText] = ["w0", "w1", "", "w\0", "\u{E9}", "e\u{301}"]

    private static func rank(_ state: inout State) -> SpecimenValue {
        if Int.random(in: 0..<3, using: &state.random) == 0 { return .edge(.double, &state.random) }
        return .double(Double(Int.random(in: 0..<8, using: &state.random)))
    }

    /// The key of a section: one of a few, some of which have the same place, or one at the edges of a type.
    private static func shade(_ state: inout State) -> SpecimenValue {
        if Int.random(in: 0..<4, using: &state.random) == 0 { return .edge(.any, &state.random) }
        let shades: [SpecimenValue] = [
            .null, .int(0), .double(-0.0), .int(1), .float(1), .double(.nan), .double(-.nan), .text("\u{E9}"),
            .text("e\u{301}"), .int(1 << 53 + 1), .double(0x1p53),
        ]
        return shades.randomElement(using: &state.random)!
    }

    private static func action(_ state: inout State, _ basket: PlainBasket, _ used: inout Set<PlainText>) -> Action? {
        let old = basket.rows.keys.filter { !used.contains($0) }.sorted()
        let number = state.commits.count * 10 + used.count
        let id = old.randomElement(using: &state.random)
        if let id { used.insert(id) }
        func fresh() -> PlainText {
            let text = state.fresh(number)
            used.insert(text)
            return text
        }
        func pick(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &state.random) }
        switch (pick(13), id) {
        case (0, let id?) where old.count > 3: return .delete(id)
        case (1, let id?): return .setRank(id, rank(&state))
        case (2, let id?), (3, let id?): return .setShade(id, shade(&state))
        case (4, let id?): return .setNote(id, "n\(number)")
        case (5, let id?), (6, let id?):
            guard state.listed.insert(id).inserted else { return nil }
            return .insertBerry(id, pick(basket.berries.count + 1))
        case (7, _) where !basket.berries.isEmpty:
            let place = pick(basket.berries.count)
            used.insert(basket.berries[place])
            return .removeBerry(place)
        case (8, _): return .insertLabel(fresh(), pick(basket.labels.count + 1))
        case (9, _) where !basket.labels.isEmpty: return .removeLabel(pick(basket.labels.count))
        case (10, _):
            let name = Self.names.randomElement(using: &state.random)!
            if !used.insert(name).inserted { return nil }
            if basket.weights[name] != nil, pick(2) == 0 { return .removeWeight(name) }
            return .setWeight(name, number)
        default: return .add(fresh(), PlainBasket.Row(rank: rank(&state), shade: shade(&state), note: "n\(number)"))
        }
    }

    private static func perform(_ action: Action, _ commit: inout PlainCommit) {
        func note(_ id: PlainText, _ property: String) { commit.written[id, default: []].insert(property) }
        switch action {
        case .add(let id, let row): commit.basket.rows[id] = row
        case .delete(let id):
            commit.basket.rows[id] = nil
            commit.basket.berries.removeAll { $0 == id }
            commit.written[id] = nil
        case .setRank(let id, let rank):
            commit.basket.rows[id]!.rank = rank
            note(id, "rank")
        case .setShade(let id, let shade):
            commit.basket.rows[id]!.shade = shade
            note(id, "shade")
        case .setNote(let id, let text):
            commit.basket.rows[id]!.note = text
            note(id, "note")
        case .insertBerry(let id, let place): commit.basket.berries.insert(id, at: place)
        case .removeBerry(let place): commit.basket.berries.remove(at: place)
        case .insertLabel(let text, let place): commit.basket.labels.insert(text, at: place)
        case .removeLabel(let place): commit.basket.labels.remove(at: place)
        case .setWeight(let name, let weight):
            commit.basket.weights[name] = weight
            commit.names.insert(name)
        case .removeWeight(let name):
            commit.basket.weights[name] = nil
            commit.names.insert(name)
        }
    }

    private static func perform(_ action: Action, _ realm: Realm, _ basket: Basket) {
        func row(_ id: PlainText) -> Berry { realm.object(ofType: Berry.self, forPrimaryKey: id.string)! }
        func number(_ value: SpecimenValue) -> Double { if case .double(let number) = value { number } else { .nan } }
        switch action {
        case .add(let id, let new):
            let berry = realm.create(Berry.self, value: ["id": id.string, "note": new.note])
            berry.rank = number(new.rank)
            berry.shade = new.shade.anyValue
        case .delete(let id): realm.delete(row(id))
        case .setRank(let id, let rank): row(id).rank = number(rank)
        case .setShade(let id, let shade): row(id).shade = shade.anyValue
        case .setNote(let id, let text): row(id).note = text
        case .insertBerry(let id, let place): basket.berries.insert(row(id), at: place)
        case .removeBerry(let place): basket.berries.remove(at: place)
        case .insertLabel(let text, let place): basket.labels.insert(text.string, at: place)
        case .removeLabel(let place): basket.labels.remove(at: place)
        case .setWeight(let name, let weight): basket.weights[name.string] = weight
        case .removeWeight(let name): basket.weights.removeObject(for: name.string)
        }
    }
}
