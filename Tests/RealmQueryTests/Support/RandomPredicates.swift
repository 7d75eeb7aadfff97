import RealmModel
import RealmQuery
import RealmTestSupport

extension QueryWorld {
    /// Paths of Item by the type of their values, and whether they have many.
    static let paths: [(text: String, kind: PropertyKind, target: String?, isMany: Bool)] = [
        ("id", .int, nil, false), ("i", .int, nil, false), ("oi", .int, nil, false), ("small", .int, nil, false),
        ("b", .bool, nil, false), ("ob", .bool, nil, false), ("s", .string, nil, false), ("os", .string, nil, false),
        ("d", .double, nil, false), ("od", .double, nil, false), ("f", .float, nil, false), ("date", .date, nil, false),
        ("data", .data, nil, false), ("oid", .objectId, nil, false), ("u", .uuid, nil, false),
        ("next", .object, "Item", false), ("box", .object, "Box", false), ("SELF", .object, "Item", false),
        ("next.i", .int, nil, false), ("next.os", .string, nil, false), ("box.name", .string, nil, false),
        ("box.weight", .double, nil, false), ("next.next.oi", .int, nil, false), ("next.box", .object, "Box", false),
        ("nums", .int, nil, true), ("tags", .string, nil, true), ("children", .object, "Item", true),
        ("children.s", .string, nil, true), ("children.box.size", .int, nil, true), ("parents.i", .int, nil, true),
        ("next.nums", .int, nil, true), ("children.nums", .int, nil, true), ("box.items.small", .int, nil, true),
        ("children.children.oi", .int, nil, true), ("children.next", .object, "Item", true),
        ("nums.@count", .int, nil, false), ("tags.@count", .int, nil, false), ("children.@count", .int, nil, false),
        ("parents.@count", .int, nil, false), ("next.children.@count", .int, nil, false),
        ("nums.@sum", .int, nil, false), ("nums.@min", .int, nil, false), ("nums.@avg", .double, nil, false),
        ("children.@max.oi", .int, nil, false), ("children.@sum.small", .int, nil, false),
        ("children.@avg.small", .double, nil, false), ("children.@min.od", .double, nil, false),
        ("parents.@max.small", .int, nil, false), ("children.@count", .int, nil, false),
    ]

    func randomPredicate(depth: Int, about className: String? = nil) -> Predicate {
        let className = className ?? mainClass
        if depth > 0, chance(0.6) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return .not(randomPredicate(depth: depth - 1, about: className))
            case 1:
                return .or(
                    (0..<Int.random(in: 1...3, using: &random))
                        .map { _ in randomPredicate(depth: depth - 1, about: className) }
                )
            default:
                return .and(
                    (0..<Int.random(in: 1...3, using: &random))
                        .map { _ in randomPredicate(depth: depth - 1, about: className) }
                )
            }
        }
        if chance(0.25), let predicate = randomIndexedPredicate(about: className) { return predicate }
        if chance(0.03) { return .constant(chance(0.5)) }
        if chance(0.06), depth > 0, let collection = collections[className]?.randomElement(using: &random) {
            let subquery = PredicateSubquery(
                collection: collection.path,
                predicate: randomPredicate(depth: depth - 1, about: collection.target)
            )
            let operation: ComparisonOperator = [.equal, .greater, .lessOrEqual].randomElement(using: &random)!
            return .compare(.subqueryCount(subquery), operation, .value(.int(.random(in: 0...2, using: &random))))
        }
        return randomComparison(about: className)
    }

    /// What an index over several properties answers: the first ones equal to something, the next in a range.
    private func randomIndexedPredicate(about className: String) -> Predicate? {
        let schema = self.schema.classes[className]!
        guard let index = schema.compoundIndexes.randomElement(using: &random) else { return nil }
        var parts: [Predicate] = []
        for name in index.properties {
            let kind = schema[name]!.kind
            func compare(_ operation: ComparisonOperator) {
                parts.append(.compare(.path(name), operation, .value(randomConstant(kind, nil))))
            }
            if chance(0.6) {
                if chance(0.15) {
                    let values = (0..<3).map { _ in randomConstant(kind, nil) }
                    parts.append(.compare(.path(name), .in, .value(.list(values))))
                } else {
                    compare(.equal)
                }
                continue
            }
            if kind == .bool { break }
            if kind == .string, chance(0.5) {
                compare(.beginsWith)
            } else {
                compare(chance(0.5) ? .greater : .greaterOrEqual)
                if chance(0.6) { compare(chance(0.5) ? .less : .lessOrEqual) }
            }
            break
        }
        if parts.isEmpty { return nil }
        if chance(0.3) { parts.append(randomComparison(about: className)) }
        return .and(parts.shuffled(using: &random))
    }

    /// Orders by properties that indexes have, and by others.
    func randomOrder(about className: String) -> [(path: String, ascending: Bool)] {
        let schema = self.schema.classes[className]!
        let isAscending = chance(0.5)
        if chance(0.6), let index = schema.compoundIndexes.randomElement(using: &random) {
            let names = index.properties.dropFirst(Int.random(in: 0..<index.properties.count, using: &random))
            return names.prefix(.random(in: 1...names.count, using: &random)).map { ($0, chance(0.9) == isAscending) }
        }
        let names = schema.properties.filter { $0.collection == .none && !$0.isLink && $0.isStored }
            .map(\.name)
        return names.shuffled(using: &random).prefix(.random(in: 1...2, using: &random))
            .map { ($0, chance(0.9) == isAscending) }
    }

    private func randomComparison(about className: String) -> Predicate {
        let known = paths[className]!
        let path = known.randomElement(using: &random)!
        var quantifier: PredicateQuantifier? =
            path.isMany ? [.any, .all, PredicateQuantifier.none].randomElement(using: &random)! : nil
        // The names and values of a dictionary mean one of them without a word, too.
        if path.path.steps.contains(.allKeys) || path.path.steps.contains(.allValues), chance(0.25) { quantifier = nil }
        if chance(0.1), !path.isMany {
            let partners = known.filter {
                !$0.isMany
                    && ($0.kind == path.kind && $0.target == path.target
                        || Self.numbers.contains($0.kind) && Self.numbers.contains(path.kind)
                        || $0.kind == .any || path.kind == .any)
            }
            var operations: [ComparisonOperator] = [.equal, .notEqual]
            if ![.object, .bool, .any].contains(path.kind) { operations += [.less, .greaterOrEqual] }
            if [.string, .data, .any].contains(path.kind) { operations += [.beginsWith, .endsWith, .contains] }
            let operation = operations.randomElement(using: &random)!
            return .compare(.path(path.path), operation, .path(partners.randomElement(using: &random)!.path))
        }
        var operations: [ComparisonOperator] = [.equal, .notEqual, .in]
        if path.kind != .bool && path.kind != .object {
            operations += [.less, .lessOrEqual, .greater, .greaterOrEqual, .between, .within]
        }
        if [.string, .data, .any].contains(path.kind) { operations += [.beginsWith, .endsWith, .contains] }
        if path.kind == .string || path.kind == .any { operations += [.like] }
        let operation = operations.randomElement(using: &random)!
        var options: StringComparisonOptions = []
        // The evaluator folds what the plain strings have.
        if path.kind == .string || path.kind == .any, domain == .plain,
            [.equal, .notEqual, .in, .beginsWith, .endsWith, .contains].contains(operation),
            chance(0.4)
        {
            options = [.caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]]
                .randomElement(using: &random)!
        }
        // With an option, values of any kind are compared with strings only.
        let kind = options.isEmpty ? path.kind : .string
        let right: PredicateValue
        switch operation {
        case .in:
            right = .list(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in randomConstant(kind, path.target) }
            )
        case .between, .within:
            right = .list([
                randomConstant(path.kind, path.target, allowsNull: false),
                randomConstant(path.kind, path.target, allowsNull: false),
            ])
        case .beginsWith where kind == .any, .endsWith where kind == .any, .contains where kind == .any:
            right = randomConstant(chance(0.7) ? .string : .data, nil, allowsNull: false)
        case .like:
            right = .string(
                ["*", "a*", "*b", "?", "a?", "*b*", "??", "a", "*é", "z**z?"].randomElement(using: &random)!
            )
        default: right = randomConstant(kind, path.target)
        }
        return .compare(.path(path.path), operation, .value(right), options: options, quantifier: quantifier)
    }

    static let numbers: Set<PropertyKind> = [.int, .double, .decimal128]

    private func randomConstant(_ kind: PropertyKind, _ target: String?, allowsNull: Bool = true) -> PredicateValue {
        if allowsNull, chance(0.1) { return .null }
        if kind == .decimal128, chance(0.3) { return .int(.random(in: -4...4, using: &random)) }
        if kind == .any {
            let kinds: [PropertyKind] = [
                .int, .bool, .string, .double, .float, .date, .data, .objectId, .uuid, .decimal128,
            ]
            if chance(0.1), let target = schema.classes.keys.sorted().randomElement(using: &random) {
                let constant = randomConstant(.object, target, allowsNull: false)
                if constant != .null { return constant }
            }
            return randomConstant(kinds.randomElement(using: &random)!, nil, allowsNull: false)
        }
        if kind == .int, chance(0.1) { return .double(randomDouble(allowsNaN: true)) }
        if kind == .double, chance(0.2) { return .int(.random(in: -4...4, using: &random)) }
        switch randomValue(kind, targetClass: target) {
        case .null: return .null
        case .int(let value): return .int(value)
        case .bool(let value): return .bool(value)
        case .float(let value): return .float(value)
        case .double(let value): return .double(value)
        case .string(let value): return .string(value)
        case .data(let value): return .data(value)
        case .date(let value): return .date(value)
        case .objectId(let value): return .objectId(value)
        case .uuid(let value): return .uuid(value)
        case .decimal(let value): return .decimal(value)
        case .link(let key): return .object(className: target ?? "", key: key)
        case .anyLink, .list, .dictionary: return .null
        }
    }
}
