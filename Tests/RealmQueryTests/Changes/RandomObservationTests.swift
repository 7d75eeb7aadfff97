import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmQuery

/// Random classes, predicates, orders and commits, seen by observers of every pace, against plain arrays.
@Suite("Observed collections of random realms")
struct RandomObservationTests {
    /// A description of a collection, and what it holds by the plain rows.
    struct Subject {
        var query: ObservedQuery
        var keyPaths: [String]?

        func content(_ world: QueryWorld, _ evaluator: PlainEvaluator) -> [Int64] {
            var keys: [Int64]
            switch query.source {
            case .table: keys = world.keys(query.className)
            case .list(let owner, let key, let property):
                keys = world.targets(of: property, of: owner, key).map(\.key)
            case .backlinks(let target, let key, let property):
                guard world.rows[target]?[key] != nil else { return [] }
                keys = world.keys(query.className)
                    .flatMap { origin in
                        world.targets(of: property, of: query.className, origin)
                            .filter { $0.className == target && $0.key == key }
                            .map { _ in origin }
                    }
            }
            if let predicate = query.predicate {
                keys = keys.filter { evaluator.matches(predicate, query.className, $0) }
            }
            for step in query.steps {
                switch step {
                case .sort(let order):
                    keys = keys.enumerated()
                        .sorted { one, other in
                            for key in order.keys {
                                let result = SortingPropertyTests.order(
                                    world.value(key.path, query.className, one.element),
                                    world.value(key.path, query.className, other.element)
                                )
                                if result != 0 { return key.ascending == (result < 0) }
                            }
                            return one.offset < other.offset
                        }
                        .map(\.element)
                case .distinct(let paths):
                    var kept: [Int64] = []
                    for key in keys
                    where !kept.contains(where: { other in
                        paths.allSatisfy { path in
                            SortingPropertyTests.order(
                                world.value(path, query.className, key),
                                world.value(path, query.className, other)
                            ) == 0
                        }
                    }) {
                        kept.append(key)
                    }
                    keys = kept
                case .limit(let count, let offset): keys = Array(keys.dropFirst(offset).prefix(count))
                case .filter(let predicate):
                    keys = keys.filter { evaluator.matches(predicate, query.className, $0) }
                }
            }
            return keys
        }
    }

    fileprivate struct Observer {
        let subject: Subject
        var keys: ObservedKeys
        var view: ModelView
        var content: [Int64]
        /// How seldom it asks.
        let pace: Int
        /// The rows written since it asked last, by class.
        var written: [String: Set<Int64>] = [:]
        var inserted: [String: Set<Int64>] = [:]
        var walker: ModelView?
        var probe: ChangeProbe?
    }

    func randomSubject(_ world: QueryWorld) -> Subject {
        let className = world.schema.classes.keys.sorted().randomElement(using: &world.random)!
        var query = ObservedQuery(className: className)
        let schema = world.schema.classes[className]!
        if world.chance(0.3) {
            // A list, a set or a map of objects, or what links to an object.
            let lists = world.schema.classes.values.flatMap { owner in
                owner.properties.filter { $0.kind == .object && $0.targetClass == className && $0.collection != .none }
                    .map { (owner.name, $0.name) }
            }
            let links = schema.properties.filter { $0.kind == .object }
            if let (owner, property) = lists.randomElement(using: &world.random), world.chance(0.6),
                let key = world.keys(owner).randomElement(using: &world.random)
            {
                query.source = .list(ownerClass: owner, ownerKey: key, property: property)
            } else if let link = links.randomElement(using: &world.random),
                let key = world.keys(link.targetClass!).randomElement(using: &world.random)
            {
                query.source = .backlinks(targetClass: link.targetClass!, targetKey: key, property: link.name)
            }
        }
        if world.chance(0.7) { query.predicate = world.randomPredicate(depth: 2, about: className) }
        let paths = world.sortablePaths(of: className)
        if world.chance(0.5) {
            let keys = (0..<Int.random(in: 1...2, using: &world.random))
                .map { _ in (path: paths.randomElement(using: &world.random)!, ascending: world.chance(0.5)) }
            query.steps.append(.sort(SortOrder(keys)))
        }
        if world.chance(0.1) {
            query.steps.append(.distinct([PropertyPath(paths.randomElement(using: &world.random)!)]))
        }
        if world.chance(0.3) {
            query.steps.append(
                .limit(Int.random(in: 0...8, using: &world.random), offset: Int.random(in: 0...2, using: &world.random))
            )
        }
        if world.chance(0.1) { query.steps.append(.filter(world.randomPredicate(depth: 1, about: className))) }
        var keyPaths: [String]?
        if world.chance(0.3) {
            keyPaths = (0..<Int.random(in: 0...2, using: &world.random))
                .map { _ in paths.randomElement(using: &world.random)! }
        }
        return Subject(query: query, keyPaths: keyPaths)
    }

    /// One commit of a few random writes; what was written and inserted, by class.
    func commit(_ world: QueryWorld) throws -> (written: [String: Set<Int64>], inserted: [String: Set<Int64>]) {
        var written: [String: Set<Int64>] = [:]
        var inserted: [String: Set<Int64>] = [:]
        let names = world.schema.classes.keys.sorted()
        try world.begin()
        for _ in 0..<Int.random(in: 1...6, using: &world.random) {
            let name = names.randomElement(using: &world.random)!
            switch Int.random(in: 0..<10, using: &world.random) {
            case 0, 1:
                try world.insert(name)
                inserted[name, default: []].insert(world.keys(name).last!)
            case 2:
                guard let key = world.keys(name).randomElement(using: &world.random) else { continue }
                for (origin, schema) in world.schema.classes {
                    for property in schema.properties where property.makesLinks {
                        for source in world.keys(origin) {
                            let targets = world.targets(of: property.name, of: origin, source)
                            if targets.contains(where: { $0.className == name && $0.key == key }) {
                                written[origin, default: []].insert(source)
                            }
                        }
                    }
                }
                try world.delete(name, key)
                written[name]?.remove(key)
                inserted[name]?.remove(key)
            default:
                guard let key = world.keys(name).randomElement(using: &world.random) else { continue }
                let properties = world.schema.classes[name]!.properties
                    .filter { !$0.isPrimaryKey && $0.kind != .linkingObjects }
                guard let property = properties.randomElement(using: &world.random) else { continue }
                try world.setRandom(name, property.name, key)
                written[name, default: []].insert(key)
            }
        }
        if names.contains(where: { world.keys($0).count > 90 }), world.chance(0.02) {
            for name in names { try world.delete(name, world.keys(name)) }
            written = [:]
            inserted = [:]
        }
        try world.commit()
        return (written, inserted)
    }

    @Test("every change leads from what was told to what a plain evaluation gives, and tells of every row written")
    func random() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var seeds = SplitMix64(seed: seed)
        var cases = 0
        var changes = 0
        for round in 0..<14 {
            // Most with sets, maps, decimals and values of any kind.
            let world = try QueryWorld.random(
                seed: seeds.next(),
                everyType: round % 3 != 0,
                domain: round % 2 == 0 ? .plain : .edges
            )
            var evaluator = PlainEvaluator(world: world)
            var observers: [Observer] = []
            func register() throws {
                let subject = randomSubject(world)
                let view = try ModelView(snapshot: world.file.beginRead())
                observers.append(
                    Observer(
                        subject: subject,
                        keys: try ObservedKeys(subject.query, keyPaths: subject.keyPaths, in: view),
                        view: view,
                        content: subject.content(world, evaluator),
                        pace: [1, 1, 2, 5].randomElement(using: &seeds)!
                    )
                )
            }
            for _ in 0..<16 { try register() }
            for number in 0..<24 {
                let (written, inserted) = try commit(world)
                for index in observers.indices {
                    observers[index].note(written, inserted)
                }
                evaluator = PlainEvaluator(world: world)
                let view = try ModelView(snapshot: world.file.beginRead())
                for index in observers.indices where number % observers[index].pace == 0 {
                    let comment: Comment =
                        "seed \(seed), round \(round), commit \(number), observer \(index): \(observers[index].subject)"
                    cases += 1
                    if try !advance(&observers[index], to: view, world, evaluator, comment) { changes += 1 }
                }
                if number % 8 == 7 { try register() }
            }
        }
        print("Observed random realms: \(cases) cases, \(changes) of them with changes, seed \(seed).")
        #expect(cases > 2_000)
        #expect(changes > 500)
    }

    /// What a quick look says, which must not overlook anything.
    private func isConcerned(_ observer: inout Observer, by step: ChangeStep, _ comment: Comment) throws -> Bool {
        let isNear = try observer.keys.mayBeConcerned(by: step)
        guard observer.keys.canBeProbed else { return isNear }
        if observer.probe == nil {
            let walker = try ModelView(snapshot: step.old.snapshot)
            observer.walker = walker
            observer.probe = try ChangeProbe(observer.keys, in: walker)
        }
        try observer.walker?.advance(to: step.new.snapshot)
        if !step.changes.tables.keys.contains(where: { observer.keys.tables.contains($0) }) { return false }
        return try isNear
            && (observer.probe?.isConcerned(observer.keys.order ?? .list([]), by: step, ProbedRows()) ?? true)
    }

    /// Moves an observer to a version, checks what it tells, and returns whether that is nothing.
    private func advance(
        _ observer: inout Observer,
        to view: ModelView,
        _ world: QueryWorld,
        _ evaluator: PlainEvaluator,
        _ comment: Comment
    ) throws -> Bool {
        let recorded = try #require(
            try world.file.changes(after: observer.view.snapshot.version, through: view.snapshot),
            comment
        )
        let step = ChangeStep(recorded, from: observer.view, to: view)
        let isConcerned = try isConcerned(&observer, by: step, comment)
        let delta = try observer.keys.advance(by: step)
        #expect(isConcerned || delta.isEmpty, comment)
        let next = observer.subject.content(world, evaluator)
        expectExact(delta, from: observer.content, to: next, comment)
        if let order = observer.keys.order { #expect(order.array() == next, comment) }
        expectMoves(delta, from: observer.content, to: next, comment)
        if observer.subject.keyPaths == nil, next.count == Set(next).count {
            let told = Set(
                delta.modifications.map { observer.content[$0] } + delta.deletions.map { observer.content[$0] }
            )
            let reached = world.reaching(observer.written, to: observer.subject.query.className)
            let stayed = Set(observer.content).intersection(next)
                .subtracting(observer.inserted[observer.subject.query.className] ?? [])
            #expect(told.isSuperset(of: reached.intersection(stayed)), comment)
            // Rows that nobody wrote to, nor to what they lead to, are only told of when others pushed them aside.
            let modified = Set(delta.modifications.map { observer.content[$0] })
            if observer.subject.query.source == .table { #expect(modified.isSubset(of: reached), comment) }
        }
        observer.content = next
        observer.view = view
        observer.written = [:]
        observer.inserted = [:]
        return delta.isEmpty
    }
}

extension RandomObservationTests.Observer {
    fileprivate mutating func note(_ written: [String: Set<Int64>], _ inserted: [String: Set<Int64>]) {
        self.written.merge(written) { $0.union($1) }
        self.inserted.merge(inserted) { $0.union($1) }
    }
}

extension QueryWorld {
    /// The rows that a property of a row leads to, in order, those inside of values of any kind included.
    func targets(of name: String, of className: String, _ key: Int64) -> [(className: String, key: Int64)] {
        guard let row = rows[className]?[key] else { return [] }
        let targetClass = schema.classes[className]?[name]?.targetClass
        func targets(_ value: StoredValue) -> [(className: String, key: Int64)] {
            switch value {
            case .link(let key): [(targetClass ?? "", key)]
            case .anyLink(let table, let key): [(model.schema.schema(of: table)?.name ?? "", key)]
            case .list(let values): values.flatMap(targets)
            case .dictionary(let entries): entries.flatMap { targets($0.value) }
            default: []
            }
        }
        return (row.lists[name] ?? row.maps[name]?.map(\.value) ?? [row.values[name] ?? .null]).flatMap(targets)
    }

    /// Properties with values that can be sorted by, those behind one link among them.
    fileprivate func sortablePaths(of className: String) -> [String] {
        func own(_ name: String) -> [String] {
            schema.classes[name]!.properties
                .filter { $0.collection == .none && $0.kind != .object && $0.kind != .linkingObjects }
                .map(\.name)
        }
        let links = schema.classes[className]!.properties.filter { $0.kind == .object && $0.collection == .none }
        return own(className) + links.flatMap { link in own(link.targetClass!).map { "\(link.name).\($0)" } }
    }

    /// The value at the end of a path of links.
    func value(_ path: PropertyPath, _ className: String, _ key: Int64) -> StoredValue {
        var className = className
        var key = key
        var value = StoredValue.null
        for (index, step) in path.steps.enumerated() {
            guard case .property(let name) = step else { return .null }
            if index > 0 {
                guard case .link(let target) = value else { return .null }
                key = target
            }
            value = rows[className]?[key]?.values[name] ?? .null
            className = schema.classes[className]?[name]?.targetClass ?? className
        }
        return value
    }

    /// The rows of a class that were written, or from which at most four links lead to one that was.
    fileprivate func reaching(_ written: [String: Set<Int64>], to className: String) -> Set<Int64> {
        var reached = written.mapValues { $0 }
        for _ in 0..<ChangePaths.defaultDepth {
            var next = reached
            for (origin, schema) in schema.classes {
                for property in schema.properties where property.makesLinks {
                    for key in rows[origin]!.keys {
                        let targets = targets(of: property.name, of: origin, key)
                        if targets.contains(where: { reached[$0.className]?.contains($0.key) == true }) {
                            next[origin, default: []].insert(key)
                        }
                    }
                }
            }
            reached = next
        }
        return reached[className] ?? []
    }
}
