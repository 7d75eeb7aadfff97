import RealmTestSupport
import Testing

@testable import ActorRealm

/// A description of something observed, and what its observer is to be told by the plain rows.
protocol PlainObserved: Sendable {
    var summary: String { get }
    /// The object that it belongs to; nil for a class.
    var origin: PlainAddress? { get }

    /// Whether an object that it belongs to does not exist.
    func isGone(_ world: PlainWorld) -> Bool

    /// Whether there is something to tell of the way from one world to another.
    func isConcerned(from old: PlainWorld, to new: PlainWorld, _ writes: PlainWrites) -> Bool

    /// Expects that what was told leads from one world to another, exactly.
    func check(_ told: ToldChange, from old: PlainWorld?, to new: PlainWorld, _ writes: PlainWrites, _ comment: Comment)

    /// The changes in a realm.
    func changes(_ world: PlainWorld, in realm: Realm) -> PlainChanges
}

/// The changes of something, to be iterated anywhere.
struct PlainChanges: Sendable {
    let begin: @Sendable () -> RandomWatch

    /// Those of a collection, with the text of an element.
    init<Collection: RealmCollection>(
        _ changes: CollectionChanges<Collection>,
        _ text: @escaping @Sendable (Any?) -> String
    ) {
        begin = { TypedWatch(changes, text) }
    }

    /// Those of a map, with the text of a value.
    init<Value>(_ changes: MapChanges<String, Value>, _ text: @escaping @Sendable (Any?) -> String) {
        begin = { MapWatch(changes, text) }
    }

    /// The text of a value.
    static let valueText: @Sendable (Any?) -> String = { "\(PlainProperty.plain($0))" }

    /// The text of an object of a class.
    static func objectText(_ type: Int, _ classes: [PlainClass]) -> @Sendable (Any?) -> String {
        { value in
            guard let object = ValueReader.unwrap(value) as? DynamicObject else { return "null" }
            return PlainWorld.text(object, type, classes, depth: 2)
        }
    }
}

/// What an observer was told, without objects.
struct ToldChange: Sendable {
    var isInitial = false
    var failure: String?
    var deletions: [Int] = []
    var insertions: [Int] = []
    var modifications: [Int] = []
    var modificationsNew: [Int] = []
    var moves: [RealmCollectionMove] = []
    /// Of a map: the names.
    var names = ToldNames()
    /// The contents now; of a map, in the order of `keys`.
    var texts: [String] = []
    var keys: [PlainText] = []
    /// Where the collection stands; nil when it does not exist any more.
    var version: UInt64?

    struct ToldNames: Equatable, Sendable {
        var deletions: [PlainText] = []
        var insertions: [PlainText] = []
        var modifications: [PlainText] = []
    }

    /// Whether the indices ascend and lie in what was there before, and in what is there now.
    func fits(_ oldCount: Int, _ newCount: Int) -> Bool {
        [deletions, insertions, modifications, modificationsNew]
            .allSatisfy { zip($0, $0.dropFirst()).allSatisfy { $0 < $1 } }
            && (deletions + modifications).allSatisfy((0..<oldCount).contains)
            && (insertions + modificationsNew).allSatisfy((0..<newCount).contains)
            && modifications.count == modificationsNew.count
            && Set(deletions).isDisjoint(with: modifications) && Set(insertions).isDisjoint(with: modificationsNew)
    }

    /// The contents before, with what was told applied: each element from the contents now.
    func applied<Element>(_ old: [Element], _ new: [Element], modifications: Bool) -> [Element] {
        var result = old
        for index in deletions.reversed() { result.remove(at: index) }
        for index in insertions where index <= result.count { result.insert(new[index], at: index) }
        if modifications {
            for index in modificationsNew where index < result.count { result[index] = new[index] }
        }
        return result
    }
}
