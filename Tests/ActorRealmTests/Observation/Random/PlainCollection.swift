import RealmTestSupport
import Testing

@testable import ActorRealm

/// A description of an observed collection, and what it holds by the plain rows.
struct PlainCollection: Sendable {
    enum Source: Sendable {
        case table
        case list(PlainAddress, String)
        case backlinks(PlainAddress, PlainProperty)
    }

    /// The changes of one, to be iterated anywhere.
    enum Changes: Sendable {
        case results(CollectionChanges<Results<DynamicObject>>)
        case list(CollectionChanges<List<DynamicObject>>)
        case backlinks(CollectionChanges<LinkingObjects<DynamicObject>>)
    }

    let type: Int
    var source = Source.table
    var predicate: PlainPredicate?
    var order: [(path: String, ascending: Bool)] = []
    var distinct: String?
    var limit: (count: Int, offset: Int)?
    var keyPaths: [String]?

    var isRefined: Bool { predicate != nil || !order.isEmpty || distinct != nil || limit != nil }

    var summary: String {
        "\(source), \(predicate.map { "\($0.format) \($0.arguments)" } ?? "all"), \(order), distinct \(distinct ?? "not"), "
            + "limit \(limit.map { "\($0)" } ?? "none"), key paths \(keyPaths.map { "\($0)" } ?? "all")"
    }

    /// Whether it is a list itself, where an element that came in another one's place is a modification.
    var hasPlaces: Bool { if case .list = source { !isRefined } else { false } }

    /// Whether an object that the collection belongs to does not exist.
    func isGone(_ world: PlainWorld) -> Bool {
        switch source {
        case .table: false
        case .list(let owner, _): world.row(owner) == nil
        case .backlinks(let target, _): world.row(target) == nil
        }
    }

    /// The serial numbers of the elements, in order.
    func content(_ world: PlainWorld) -> [Int] {
        if isGone(world) { return [] }
        var serials: [Int]
        switch source {
        case .table: serials = world.serials(type)
        case .list(let owner, let property): serials = world.targets(owner, property).map(\.serial)
        case .backlinks(let target, let property):
            serials = world.serials(type)
                .flatMap { serial in
                    world.targets(PlainAddress(type: type, serial: serial), property.origin!).filter { $0 == target }
                        .map { _ in serial }
                }
        }
        func address(_ serial: Int) -> PlainAddress { PlainAddress(type: type, serial: serial) }
        if let predicate { serials = serials.filter { predicate.holds(world, address($0)) } }
        if !order.isEmpty {
            serials = serials.enumerated()
                .sorted { one, other in
                    for (path, ascending) in order {
                        let first = world.value(path, address(one.element))
                        let second = world.value(path, address(other.element))
                        if first != second { return ascending == first.precedes(second) }
                    }
                    return one.offset < other.offset
                }
                .map(\.element)
        }
        if let distinct {
            var seen: Set<PlainValue> = []
            serials = serials.filter { seen.insert(world.value(distinct, address($0))).inserted }
        }
        if let limit { serials = Array(serials.dropFirst(limit.offset).prefix(limit.count)) }
        return serials
    }

    /// The changes of the collection in a realm.
    func changes(_ world: PlainWorld, in realm: Realm) -> Changes {
        switch source {
        case .table:
            let all = realm.dynamicObjects(world.classes[type].name)
            return .results((isRefined ? refined(all) : all).changes(keyPaths: keyPaths))
        case .list(let owner, let property):
            let list = world.object(owner, in: realm)!.dynamicList(property)
            return isRefined
                ? .results(refined(list).changes(keyPaths: keyPaths)) : .list(list.changes(keyPaths: keyPaths))
        case .backlinks(let target, let property):
            let origins = world.object(target, in: realm)![property.name] as! LinkingObjects<DynamicObject>
            return isRefined
                ? .results(refined(origins).changes(keyPaths: keyPaths))
                : .backlinks(origins.changes(keyPaths: keyPaths))
        }
    }

    private func refined<Collection: RealmCollection>(_ collection: Collection) -> Results<DynamicObject>
    where Collection.Element == DynamicObject {
        var results: Results<DynamicObject>?
        if let predicate { results = predicate.filter(collection) }
        if !order.isEmpty {
            let descriptors = order.map { SortDescriptor(keyPath: $0.path, ascending: $0.ascending) }
            results = results?.sorted(by: descriptors) ?? collection.sorted(by: descriptors)
        }
        if let distinct { results = results?.distinct(by: [distinct]) ?? collection.distinct(by: [distinct]) }
        if let limit {
            results =
                results?.limit(limit.count, offset: limit.offset) ?? collection.limit(limit.count, offset: limit.offset)
        }
        return results!
    }

    /// A random collection of a world.
    static func random(_ world: PlainWorld, _ random: inout SplitMix64) -> PlainCollection {
        func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }
        var collection = PlainCollection(type: world.classes.indices.randomElement(using: &random)!)
        if chance(0.4), let serial = world.serials(collection.type).randomElement(using: &random) {
            let owner = PlainAddress(type: collection.type, serial: serial)
            let schema = world.classes[collection.type]
            if chance(0.6), let list = schema.lists.filter(\.isLink).randomElement(using: &random) {
                collection = PlainCollection(type: list.target!, source: .list(owner, list.name))
            } else if let back = schema.backlinks.randomElement(using: &random) {
                collection = PlainCollection(type: back.target!, source: .backlinks(owner, back))
            }
        }
        let schema = world.classes[collection.type]
        let paths =
            schema.scalars.map(\.name)
            + schema.links.flatMap { link in world.classes[link.target!].scalars.map { "\(link.name).\($0.name)" } }
        if chance(0.6) { collection.predicate = .random(collection.type, world, depth: 2, &random) }
        if chance(0.5) {
            collection.order = (0..<Int.random(in: 1...2, using: &random))
                .map { _ in (paths.randomElement(using: &random)!, chance(0.5)) }
        }
        if chance(0.1) { collection.distinct = paths.randomElement(using: &random)! }
        if chance(0.2) { collection.limit = (.random(in: 1...8, using: &random), .random(in: 0...2, using: &random)) }
        if chance(0.3) {
            let links = (schema.links + schema.lists.filter(\.isLink))
                .flatMap { link in
                    [link.name]
                        + world.classes[link.target!].properties.filter { $0.origin == nil }
                        .map { "\(link.name).\($0.name)" }
                }
            collection.keyPaths = (0..<Int.random(in: 0...2, using: &random))
                .map { _ in (paths + links).randomElement(using: &random)! }
        }
        return collection
    }
}

extension PlainValue {
    /// Whether a value comes before another one of the same property: null first, then false, small numbers, text by its bytes.
    func precedes(_ other: PlainValue) -> Bool {
        switch (self, other) {
        case (.null, let other): other != .null
        case (.bool(let one), .bool(let other)): !one && other
        case (.number(let one), .number(let other)): one < other
        case (.text(let one), .text(let other)): one.utf8.lexicographicallyPrecedes(other.utf8)
        default: false
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
    /// The contents now.
    var ids: [Int] = []
    var texts: [String] = []
    /// Where the collection stands; nil when it does not exist any more.
    var version: UInt64?
}

extension PlainCollection {
    /// Whether there is something to tell of the way from one world to another.
    func isConcerned(from old: PlainWorld, to new: PlainWorld, _ writes: PlainWrites) -> Bool {
        let (before, after) = (content(old), content(new))
        if before != after || isGone(new) != isGone(old) { return true }
        let modified = modified(new, writes)
        return before.contains(where: modified.contains)
    }

    /// The serial numbers of the objects that count as modified.
    private func modified(_ new: PlainWorld, _ writes: PlainWrites) -> Set<Int> {
        guard let keyPaths else {
            return Set(new.reaching(writes).filter { $0.type == type }.map(\.serial))
        }
        let paths = keyPaths.map { $0.split(separator: ".").map(String.init)[...] }
        return Set(
            new.serials(type)
                .filter { serial in
                    paths.contains { new.isWritten($0, PlainAddress(type: type, serial: serial), writes) }
                }
        )
    }

    /// Expects that what was told leads from one world to another, exactly.
    func check(_ told: ToldChange, from old: PlainWorld?, to new: PlainWorld, _ writes: PlainWrites, _ comment: Comment)
    {
        func texts(_ world: PlainWorld, _ serials: [Int]) -> [String] {
            serials.map { world.text(PlainAddress(type: type, serial: $0), depth: 2) }
        }
        #expect(told.failure == nil, comment)
        let after = content(new)
        let afterTexts = texts(new, after)
        #expect(told.texts == afterTexts, comment)
        guard let old else {
            #expect(told.isInitial, comment)
            return
        }
        let before = content(old)
        #expect(!told.isInitial, comment)
        for indices in [told.deletions, told.insertions, told.modifications, told.modificationsNew] {
            #expect(zip(indices, indices.dropFirst()).allSatisfy { $0 < $1 }, comment)
        }
        guard (told.deletions + told.modifications).allSatisfy(before.indices.contains),
            (told.insertions + told.modificationsNew).allSatisfy(after.indices.contains),
            told.modifications.count == told.modificationsNew.count
        else {
            Issue.record(comment)
            return
        }
        // The previous contents and the change give the contents, and so they do with what is to be read in them.
        func applied<Element>(_ old: [Element], _ new: [Element], modifications: Bool) -> [Element] {
            var result = old
            for index in told.deletions.reversed() { result.remove(at: index) }
            for index in told.insertions where index <= result.count { result.insert(new[index], at: index) }
            if modifications {
                for index in told.modificationsNew where index < result.count { result[index] = new[index] }
            }
            return result
        }
        let pairs = zip(told.modifications, told.modificationsNew)
        let replaced = Set(pairs.filter { before[$0] != after[$1] }.map(\.0))
        if hasPlaces {
            #expect(applied(before, after, modifications: true) == after, comment)
        } else {
            #expect(replaced.isEmpty, comment)
            #expect(applied(before, after, modifications: false) == after, comment)
        }
        if keyPaths == nil {
            #expect(applied(texts(old, before), afterTexts, modifications: true) == afterTexts, comment)
        }
        // Everything that was written and stayed is a modification, and nothing else is.
        let modified = modified(new, writes)
        let deletions = Set(told.deletions)
        let stayed = before.indices.filter { !deletions.contains($0) && !replaced.contains($0) }
        let expected = stayed.filter { modified.contains(before[$0]) }
        #expect(told.modifications.filter { !replaced.contains($0) } == expected, comment)
        // Moves pair what was deleted and inserted, once for each time.
        #expect(told.moves.allSatisfy { deletions.contains($0.from) && told.insertions.contains($0.to) }, comment)
        #expect(told.moves.allSatisfy { before[$0.from] == after[$0.to] }, comment)
        #expect(Set(told.moves.map(\.from)).count == told.moves.count, comment)
        #expect(Set(told.moves.map(\.to)).count == told.moves.count, comment)
        let gone = told.deletions.reduce(into: [Int: Int]()) { $0[before[$1], default: 0] += 1 }
        let come = told.insertions.reduce(into: [Int: Int]()) { $0[after[$1], default: 0] += 1 }
        #expect(told.moves.count == gone.reduce(0) { $0 + min($1.value, come[$1.key] ?? 0) }, comment)
        if case .table = source, order.isEmpty { #expect(told.moves.isEmpty, comment) }
    }
}
