import RealmTestSupport
import Testing

@testable import ActorRealm

/// An observed collection of objects: a class, a list, a set or linking objects, as they are or refined.
struct PlainCollection: PlainObserved {
    enum Source: Sendable {
        case table
        case list(PlainAddress, String)
        case set(PlainAddress, String)
        case backlinks(PlainAddress, PlainProperty)
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
        "\(source), \(predicate?.summary ?? "all"), \(order), distinct \(distinct ?? "not"), "
            + "limit \(limit.map { "\($0)" } ?? "none"), key paths \(keyPaths.map { "\($0)" } ?? "all")"
    }

    /// Whether it is a list itself, where an element that came in another one's place is a modification.
    var hasPlaces: Bool { if case .list = source { !isRefined } else { false } }

    var origin: PlainAddress? {
        switch source {
        case .table: nil
        case .list(let owner, _), .set(let owner, _), .backlinks(let owner, _): owner
        }
    }

    /// Whether an object that the collection belongs to does not exist.
    func isGone(_ world: PlainWorld) -> Bool {
        switch source {
        case .table: false
        case .list(let owner, _), .set(let owner, _): world.row(owner) == nil
        case .backlinks(let target, _): world.row(target) == nil
        }
    }

    /// The serial numbers of the elements, in order.
    func content(_ world: PlainWorld) -> [Int] {
        if isGone(world) { return [] }
        var serials: [Int]
        switch source {
        case .table: serials = world.serials(type)
        case .list(let owner, let property), .set(let owner, let property):
            serials = world.targets(owner, property).map(\.serial)
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
                        if !first.hasPlace(of: second) { return ascending == first.precedes(second) }
                    }
                    return one.offset < other.offset
                }
                .map(\.element)
        }
        if let distinct { serials = PlainWorld.firsts(serials) { world.value(distinct, address($0)) } }
        if let limit { serials = Array(serials.dropFirst(limit.offset).prefix(limit.count)) }
        return serials
    }

    func changes(_ world: PlainWorld, in realm: Realm) -> PlainChanges {
        switch source {
        case .table:
            let all = realm.dynamicObjects(world.classes[type].name)
            return changes(of: isRefined ? refined(all) : all, world)
        case .list(let owner, let property):
            return refinedChanges(of: world.object(owner, in: realm)!.dynamicList(property), world)
        case .set(let owner, let property):
            return refinedChanges(of: world.object(owner, in: realm)!.dynamicMutableSet(property), world)
        case .backlinks(let target, let property):
            let origins = world.object(target, in: realm)![property.name] as! LinkingObjects<DynamicObject>
            return refinedChanges(of: origins, world)
        }
    }

    private func refinedChanges<Collection: RealmCollection>(
        of collection: Collection,
        _ world: PlainWorld
    ) -> PlainChanges where Collection.Element == DynamicObject {
        isRefined ? changes(of: refined(collection), world) : changes(of: collection, world)
    }

    private func changes<Collection: RealmCollection>(of collection: Collection, _ world: PlainWorld) -> PlainChanges {
        PlainChanges(collection.changes(keyPaths: keyPaths), PlainChanges.objectText(type, world.classes))
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
            if chance(0.6), let list = schema.sequences.filter(\.isLink).randomElement(using: &random) {
                let source: Source = list.collection == .set ? .set(owner, list.name) : .list(owner, list.name)
                collection = PlainCollection(type: list.target!, source: source)
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
        if chance(0.35) { collection.keyPaths = world.randomKeyPaths(collection.type, &random) }
        return collection
    }
}

extension PlainCollection {
    /// Whether there is something to tell of the way from one world to another.
    func isConcerned(from old: PlainWorld, to new: PlainWorld, _ writes: PlainWrites) -> Bool {
        let (before, after) = (content(old), content(new))
        if before != after || isGone(new) != isGone(old) { return true }
        let modified = new.modified(type, keyPaths, writes)
        return before.contains(where: modified.contains)
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
        guard told.fits(before.count, after.count) else {
            Issue.record("\(told). \(comment)")
            return
        }
        // The previous contents and the change give the contents, and so they do with what is to be read in them.
        let pairs = zip(told.modifications, told.modificationsNew)
        let replaced = Set(pairs.filter { before[$0] != after[$1] }.map(\.0))
        if hasPlaces {
            #expect(told.applied(before, after, modifications: true) == after, comment)
        } else {
            #expect(replaced.isEmpty, comment)
            #expect(told.applied(before, after, modifications: false) == after, comment)
        }
        if keyPaths == nil {
            #expect(told.applied(texts(old, before), afterTexts, modifications: true) == afterTexts, comment)
        }
        // Everything that was written and stayed is a modification, and nothing else is.
        let modified = new.modified(type, keyPaths, writes)
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
        switch source {
        case .table, .set: if order.isEmpty { #expect(told.moves.isEmpty, comment) }
        case .list, .backlinks: break
        }
    }
}
