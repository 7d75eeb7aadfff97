import ActorRealm
import Foundation
import RealmTestSupport

/// A row that observers of several kinds look at.
class Berry: Object {
    @Persisted(primaryKey: true) var id: String
    @Persisted var rank = 0.0
    @Persisted var shade: AnyRealmValue = 0
    @Persisted var note = ""

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The one object with the collections that are observed, and the number of the last commit.
class Basket: Object {
    @Persisted var commit = 0
    @Persisted var berries: List<Berry>
    @Persisted var labels: List<String>
    @Persisted var weights: Map<String, Int>

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// What the realm holds, in plain Swift.
struct PlainBasket: Sendable {
    struct Row: Sendable {
        /// A `Double`.
        var rank: SpecimenValue
        var shade: SpecimenValue
        var note: String
    }

    var rows: [PlainText: Row] = [:]
    var berries: [PlainText] = []
    var labels: [PlainText] = []
    var weights: [PlainText: Int] = [:]
    /// Numbers that were given out.
    var last = 100

    mutating func next(_ prefix: String) -> PlainText {
        last += 1
        return PlainText("\(prefix)\(last)")
    }
}

/// What one commit did, and what each kind of observer finds behind it.
struct PlainCommit: Sendable {
    /// The observers that it leaves out.
    var silent: Set<WatchedKind> = []
    /// The properties that it wrote, by row.
    var written: [PlainText: Set<String>] = [:]
    /// The names of the map that it put or removed.
    var names: Set<PlainText> = []
    var basket: PlainBasket

    /// The commits as an observer takes them: those of others in a row are one, and each that leaves it out is alone.
    static func joined(_ commits: ArraySlice<PlainCommit>, for kind: WatchedKind) -> [PlainCommit] {
        var joined: [PlainCommit] = []
        for var commit in commits {
            if let last = joined.last, !last.silent.contains(kind), !commit.silent.contains(kind) {
                commit.written.merge(last.written) { $0.union($1) }
                commit.names.formUnion(last.names)
                joined.removeLast()
            }
            joined.append(commit)
        }
        return joined
    }

    /// The elements that an observer finds, in order where that is defined.
    func contents(_ kind: WatchedKind) -> [PlainText] {
        let byID = basket.rows.keys.sorted()
        switch kind {
        case .filtered: return byID.filter { SpecimenValue.holds(basket.rows[$0]!.rank, "<", .int(5)) }
        case .ranked:
            return byID.enumerated()
                .sorted { one, other in
                    let order = SpecimenValue.order(basket.rows[one.element]!.rank, basket.rows[other.element]!.rank)
                    return order == 0 ? one.offset < other.offset : order < 0
                }
                .map(\.element)
        case .list: return basket.berries
        case .labels: return basket.labels
        case .distinct:
            var shades: [SpecimenValue] = []
            return byID.filter { id in
                let shade = basket.rows[id]!.shade
                if shades.contains(where: shade.hasPlace(of:)) { return false }
                shades.append(shade)
                return true
            }
        case .limited: return Array(byID.prefix(4))
        case .sections, .sectionsOfNotes, .sectionsByKey: return byID
        case .weights: return basket.weights.keys.sorted()
        }
    }
}

/// What is observed.
enum WatchedKind: CaseIterable, Sendable {
    /// Berries by number, some of them.
    case filtered
    /// Berries by rank: they move.
    case ranked
    case list
    /// A list of values.
    case labels
    case distinct
    case limited
    /// Berries by number in sections by shade.
    case sections
    /// The same, where notes alone are modifications.
    case sectionsOfNotes
    /// Sections of berries by shade: they move.
    case sectionsByKey
    case weights

    /// Whether elements keep their order among each other, so that it is known exactly what an observer shows.
    var isExact: Bool { self != .ranked && self != .sectionsByKey }
    /// Whether elements have places of their own, so that one may replace another.
    var isList: Bool { self == .list || self == .labels }
    /// The properties whose writes are modifications.
    var properties: Set<String> { self == .sectionsOfNotes ? ["note"] : ["rank", "shade", "note"] }
}
