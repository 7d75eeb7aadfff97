import RealmModel
import RealmQuery
import RealmTestSupport

extension QueryWorld {
    /// A realm with random classes and random rows.
    ///
    /// With properties of every type, or with fewer, so that more of them are links and lists: no sets and maps, decimals,
    /// and values of any kind.
    ///
    /// The values of the domain of edges have every kind of key, and no sums: those depend on their order.
    static func random(seed: UInt64, everyType: Bool, domain: ValueDomain = .plain) throws -> QueryWorld {
        var random = SplitMix64(seed: seed)
        let schema = randomSchema(&random, everyType: everyType, domain: domain)
        let world = try QueryWorld(seed: random.next(), schema: schema, mainClass: "C0")
        world.domain = domain
        // Half of the realms have what SQL can say: it knows no NaN, and paths are short.
        world.usesNaN = Bool.random(using: &random) || domain == .edges
        for name in schema.classes.keys {
            let paths = world.everyPath(from: name)
            world.paths[name] = world.usesNaN ? paths : paths.filter(world.isPlain)
        }
        for (name, other) in schema.classes {
            world.collections[name] = other.properties.filter { $0.isCollectionOfObjects }
                .map { (PropertyPath(steps: [.property($0.name)]), $0.targetClass!) }
        }
        try world.begin()
        for name in schema.classes.keys.sorted().reversed() {
            let count = name == "C0" ? Int.random(in: 10...70, using: &random) : .random(in: 1...15, using: &random)
            for _ in 0..<count { try world.insert(name) }
        }
        try world.delete("C0", world.keys("C0").filter { _ in world.chance(0.1) })
        try world.commit()
        return world
    }

    private static func randomSchema(
        _ random: inout SplitMix64,
        everyType: Bool,
        domain: ValueDomain
    ) -> DatabaseSchema {
        let names = (0..<Int.random(in: 1...3, using: &random)).map { "C\($0)" }
        let further: [PropertyKind] = everyType ? [.decimal128, .any] : []
        let scalars: [PropertyKind] =
            [.int, .int, .bool, .string, .string, .double, .float, .date, .data, .objectId, .uuid] + further
        let collections: [CollectionKind] = everyType ? [.list, .list, .set, .map] : [.list]
        let indexable: Set<PropertyKind> = [.int, .bool, .string, .date, .objectId, .uuid]
        var classes: [ClassSchema] = []
        var links: [(origin: String, property: String, target: String)] = []
        for name in names {
            var properties: [PropertySchema] = []
            if Bool.random(using: &random) {
                let kinds: [PropertyKind] =
                    domain == .edges ? [.int, .int, .string, .string, .objectId, .uuid] : [.int]
                properties.append(
                    PropertySchema(name: "id", kind: kinds.randomElement(using: &random)!, isPrimaryKey: true)
                )
            }
            // A class has a number at least, for comparisons to choose from.
            properties.append(PropertySchema(name: "n", kind: .int, isIndexed: Bool.random(using: &random)))
            for index in 0..<Int.random(in: 1...7, using: &random) {
                let kind = scalars.randomElement(using: &random)!
                properties.append(
                    PropertySchema(
                        name: "p\(index)",
                        kind: kind,
                        isOptional: Bool.random(using: &random),
                        isIndexed: indexable.contains(kind) && Int.random(in: 0..<3, using: &random) == 0
                    )
                )
            }
            for index in 0..<Int.random(in: 0...2, using: &random) {
                let target = names.randomElement(using: &random)!
                properties.append(PropertySchema(name: "link\(index)", kind: .object, targetClass: target))
                links.append((name, "link\(index)", target))
            }
            for index in 0..<Int.random(in: 0...3, using: &random) {
                let collection = collections.randomElement(using: &random)!
                if Bool.random(using: &random) {
                    let target = names.randomElement(using: &random)!
                    properties.append(
                        PropertySchema(
                            name: "many\(index)",
                            kind: .object,
                            collection: collection,
                            isOptional: collection == .map,
                            targetClass: target
                        )
                    )
                    links.append((name, "many\(index)", target))
                } else {
                    properties.append(
                        PropertySchema(
                            name: "list\(index)",
                            kind: ([.int, .string, .double, .bool, .date] + further).randomElement(using: &random)!,
                            collection: collection,
                            isOptional: Bool.random(using: &random)
                        )
                    )
                }
            }
            let parts = properties.filter { $0.collection == .none && indexable.contains($0.kind) }.map(\.name)
            var indexes: [CompoundIndexSchema] = []
            for _ in 0..<(parts.count > 1 ? Int.random(in: 0...3, using: &random) : 0) {
                let names = parts.shuffled(using: &random)
                    .prefix(.random(in: 2...min(4, parts.count), using: &random))
                if !indexes.contains(where: { $0.properties == Array(names) }) {
                    indexes.append(CompoundIndexSchema(Array(names)))
                }
            }
            classes.append(ClassSchema(name: name, properties: properties, compoundIndexes: indexes))
        }
        for (index, link) in links.enumerated() where Int.random(in: 0..<2, using: &random) == 0 {
            let target = classes.firstIndex { $0.name == link.target }!
            let backlinks = PropertySchema(
                name: "back\(index)",
                kind: .linkingObjects,
                targetClass: link.origin,
                originProperty: link.property
            )
            classes[target] = ClassSchema(
                name: classes[target].name,
                properties: classes[target].properties + [backlinks],
                compoundIndexes: classes[target].compoundIndexes
            )
        }
        return DatabaseSchema(classes: classes)
    }

    /// Whether a path is a property, one of a linked object, or a list and its number of elements: what SQL can say.
    private func isPlain(_ path: Path) -> Bool {
        let steps = path.path.steps
        if steps.isEmpty || steps.count > 2 || path.kind == .object && path.isMany { return false }
        if [.any, .decimal128].contains(path.kind) || path.text.hasPrefix("back") { return false }
        if steps.count == 1 { return true }
        if case .count = steps[1] { return true }
        return !steps[1].isOperatorForTests && !path.isMany
    }

    /// Every path of up to three steps, with the operators that give exact results.
    private func everyPath(from className: String, depth: Int = 2) -> [Path] {
        var found: [Path] = depth == 2 ? [Path(PropertyPath(steps: []), .object, target: className, isMany: false)] : []
        for property in schema.classes[className]!.properties {
            let name = PropertyPath.Step.property(property.name)
            func path(_ steps: [PropertyPath.Step], _ kind: PropertyKind, isMany: Bool) -> Path {
                Path(
                    PropertyPath(steps: [name] + steps),
                    kind,
                    target: kind == .object ? property.targetClass : nil,
                    isMany: isMany
                )
            }
            let isMany = property.collection != .none || property.kind == .linkingObjects
            guard isMany else {
                found.append(path([], property.kind, isMany: false))
                if property.kind == .object, depth > 0 {
                    found += everyPath(from: property.targetClass!, depth: depth - 1).map { $0.behind([name]) }
                }
                if property.kind == .any {
                    found += Self.insides.map { path($0, .any, isMany: $0.contains(.anyElement)) }
                }
                continue
            }
            found.append(path([.count], .int, isMany: false))
            if property.collection == .map { found.append(path([.allKeys], .string, isMany: true)) }
            if property.isCollectionOfObjects {
                if property.kind == .object {
                    found.append(path([], .object, isMany: true))
                    if property.collection == .map {
                        for key in entryNames.prefix(4) { found.append(path([.key(key)], .object, isMany: false)) }
                    }
                }
                guard depth > 0 else { continue }
                let further = everyPath(from: property.targetClass!, depth: depth - 1)
                    .filter { !$0.path.steps.isEmpty }
                found += further.filter { !$0.hasOperator }.map { $0.behind([name], isMany: true) }
                if property.collection == .map { found += further.map { $0.behind([name, .key("a")]) } }
                for path in further where !path.isMany && !path.hasOperator {
                    found += operators(on: path.kind)
                        .map { Path(PropertyPath(steps: [name, $0.step] + path.path.steps), $0.kind, isMany: false) }
                }
                continue
            }
            found.append(path([], property.kind, isMany: true))
            if property.collection == .map {
                found.append(path([.allValues], property.kind, isMany: true))
                found += entryNames.prefix(4).map { path([.key($0)], property.kind, isMany: false) }
            }
            if property.kind == .any {
                if property.collection == .map {
                    found += Self.insides.map { path([.key("a")] + $0, .any, isMany: $0.contains(.anyElement)) }
                    found += Self.insides.map { path([.allValues] + $0, .any, isMany: true) }
                } else {
                    found += Self.insides.map { path($0, .any, isMany: true) }
                }
            }
            found += operators(on: property.kind).map { path([$0.step], $0.kind, isMany: false) }
        }
        return found
    }

    /// Steps into values of any kind.
    private static let insides: [[PropertyPath.Step]] = [
        [.index(0)], [.key("a")], [.key("e\u{301}")], [.key("\u{E9}")], [.anyElement], [.index(1), .key("b")],
        [.anyElement, .index(0)],
    ]

    /// Sums of floating-point numbers depend on their order.
    private func operators(on kind: PropertyKind) -> [(step: PropertyPath.Step, kind: PropertyKind)] {
        if domain == .edges { return [] }
        return switch kind {
        case .int: [(.minimum, .int), (.maximum, .int), (.sum, .int), (.average, .double)]
        case .double, .float, .date: [(.minimum, kind), (.maximum, kind)]
        case .any, .decimal128: [(.minimum, kind), (.maximum, kind), (.sum, .decimal128)]
        default: []
        }
    }
}

extension QueryWorld.Path {
    fileprivate func behind(_ steps: [PropertyPath.Step], isMany: Bool = false) -> Self {
        var path = self
        path.path = PropertyPath(steps: steps + self.path.steps)
        path.isMany = isMany || self.isMany
        return path
    }

    /// Whether there is an operator over a collection, or a step into a dictionary.
    fileprivate var hasOperator: Bool { path.steps.contains(where: \.isOperatorForTests) }
}

extension PropertyPath.Step {
    /// Whether the step is anything but a property.
    fileprivate var isOperatorForTests: Bool {
        if case .property = self { return false }
        return true
    }
}

extension PropertySchema {
    fileprivate var isCollectionOfObjects: Bool {
        kind == .linkingObjects || (kind == .object && collection != .none)
    }
}
