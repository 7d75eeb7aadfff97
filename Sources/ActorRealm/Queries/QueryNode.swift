import RealmQuery

/// A path as a typed query builds it: it knows which of its steps are collections.
struct QueryPath {
    var steps: [PropertyPath.Step] = []
    /// For each collection on the way, the number of steps that lead to and include it.
    var collections: [Int] = []
    /// How many of the values behind collections must meet a condition; nil for one at least.
    var quantifier: PredicateQuantifier?
    /// The number of steps that lead to and include the collection that the quantifier stands before.
    var quantifiedLength = 0

    /// The path with properties appended.
    func appending(_ further: [PropertyPath.Step], isCollection: Bool) -> QueryPath {
        var path = self
        if path.steps.isEmpty { path.steps = further } else { path.steps += further }
        if isCollection { path.collections.append(path.steps.count) }
        return path
    }

    /// The path with an operator over its last collection, which then is one value.
    func aggregated(_ step: PropertyPath.Step) -> QueryPath {
        guard let last = collections.last else {
            misuse(
                "Invalid keypath '\(PropertyPath(steps: steps))': \(step.name) is computed over a collection, and none is "
                    + "on the way: a property of one object is compared as it is."
            )
        }
        var path = self
        // The values of a map are what is computed over anyway.
        if last < path.steps.count, path.steps[last] == .allValues { path.steps.remove(at: last) }
        path.steps.insert(step, at: last)
        path.collections.removeLast()
        return path
    }

    /// The path into the value of a name, or a part of a value of any kind, which is one value again.
    func stepping(_ step: PropertyPath.Step) -> QueryPath {
        if steps.contains(where: \.isComputed) {
            misuse(
                "Cannot add subscript to '\(PropertyPath(steps: steps))': what was computed over a collection has no "
                    + "entries. Take the subscript first, or compare the elements themselves."
            )
        }
        var path = self
        if path.collections.last == path.steps.count, step != .anyElement { path.collections.removeLast() }
        path.steps.append(step)
        if step == .anyElement { path.collections.append(path.steps.count) }
        return path
    }

    /// One of the values that the path leads to, whatever stands before them.
    var element: QueryNode {
        var path = self
        path.quantifier = nil
        return .path(path)
    }

    func operand(stripping count: Int) -> PredicateOperand {
        .path(PropertyPath(steps: count == 0 ? steps : Array(steps.dropFirst(count))))
    }

    /// Traps for a way into a map or a value of any kind where a subquery needs a collection.
    func requireCollectionFirst() {
        for step in steps.prefix(collections.first ?? steps.count) {
            switch step {
            case .key: misuse("Subqueries do not support map subscripts.")
            case .index, .anyElement: misuse("Subqueries do not support AnyRealmValue subscripts.")
            default: break
            }
        }
        if let first = collections.first, steps.dropFirst(first).first == .allKeys {
            misuse(
                "Subqueries do not support the keys of a map: they count its objects. Compare "
                    + "'\(PropertyPath(steps: steps))' itself, which holds when it does for one key."
            )
        }
    }

    /// Whether the path has many values for one start.
    func isMany(stripping count: Int) -> Bool { collections.contains { $0 > count } }

    /// The quantifier of many values, or of the one that was computed over them; nil where a subquery counts what it is
    /// about.
    func quantifier(stripping count: Int) -> PredicateQuantifier? {
        guard let quantifier, isMany(stripping: count) || quantifiedLength > count else { return nil }
        return quantifier
    }
}

/// What a typed query is made of, before it becomes a predicate.
///
/// Paths and values, the parts of every query, are not boxed.
enum QueryNode {
    /// The object that the query is about.
    case root
    /// A property of it, by a path that lives as long as the process.
    case member(Unmanaged<KnownPath>)
    /// The condition that such a property has a value: the commonest of all.
    case memberEquals(Unmanaged<KnownPath>, PredicateValue)
    case value(PredicateValue)
    /// An embedded object without a row, whose properties are compared.
    case embedded(EmbeddedObject)
    /// A managed object, or what may hold some: it is read when the realm that is queried is known.
    indirect case objects(Any)
    /// Embedded objects without a row, and what else is looked for with them.
    indirect case oneOf([QueryNode])
    case path(QueryPath)
    indirect case subqueryCount(QueryNode)
    indirect case comparison(QueryNode, ComparisonOperator, QueryNode, StringComparisonOptions)
    /// What is joined by one and the same operator is one node, so that a long chain is neither deep to walk nor to let go of.
    indirect case and([QueryNode])
    indirect case or([QueryNode])
    indirect case not(QueryNode)

    static func conjunction(_ left: QueryNode, _ right: QueryNode) -> QueryNode {
        switch (left, right) {
        case (.and(let first), .and(let second)): .and(first + second)
        case (.and(let first), _): .and(first + [right])
        case (_, .and(let second)): .and([left] + second)
        default: .and([left, right])
        }
    }

    static func disjunction(_ left: QueryNode, _ right: QueryNode) -> QueryNode {
        switch (left, right) {
        case (.or(let first), .or(let second)): .or(first + second)
        case (.or(let first), _): .or(first + [right])
        case (_, .or(let second)): .or([left] + second)
        default: .or([left, right])
        }
    }

    /// The path of a node that stands for a property.
    var path: QueryPath {
        switch self {
        case .path(let path): return path
        case .root: return QueryPath()
        case .member(let member): return QueryPath(steps: member.takeUnretainedValue().steps)
        default: misuse("Cannot apply a keypath to an expression: apply it to a property.")
        }
    }

    /// The node without what is there for speed only.
    private var plain: QueryNode {
        switch self {
        case .root, .member: .path(path)
        case .memberEquals(let member, let value):
            .comparison(QueryNode.member(member).plain, .equal, .value(value), .none)
        default: self
        }
    }

    /// The predicate about objects of a realm, with the first steps of every path taken as the start.
    func predicate(stripping count: Int = 0, in core: RealmCore) -> Predicate {
        switch self {
        case .and(let parts):
            return .conjunction(parts.map { $0.predicate(stripping: count, in: core) })
        case .or(let parts):
            return .disjunction(parts.map { $0.predicate(stripping: count, in: core) })
        case .not(let node):
            return node.predicate(stripping: count, in: core).negated
        case .memberEquals: return plain.predicate(stripping: count, in: core)
        case .path, .root, .member:
            // A bare boolean property is a condition.
            return QueryNode.comparison(self, .equal, .value(.bool(true)), []).predicate(stripping: count, in: core)
        case .value(let value):
            return .constant(value == .bool(true))
        case .embedded, .objects, .oneOf:
            misuse("A value is no condition: compare a property with it.")
        case .subqueryCount:
            misuse("The count of a subquery must be compared with a number.")
        case .comparison(let left, let operation, .embedded(let object), _):
            guard operation == .equal || operation == .notEqual else {
                misuse("Operator '\(operation.spelling)' not supported for embedded objects.")
            }
            let path = left.path
            let equal = path.element.memberwiseEqual(object)
            let wanted = operation == .equal ? equal : .not(equal)
            return wanted.met(by: path, stripping: count).predicate(stripping: count, in: core)
        case .comparison(let left, _, .oneOf(let values), _):
            let path = left.path
            let isOne = QueryNode.or(values.map { .comparison(path.element, .equal, $0, .none) })
            // One element may be equal to this value and one to that; whether any is can be asked of each value.
            return isOne.met(by: path, stripping: count, byOne: isOne).predicate(stripping: count, in: core)
        case .comparison(let left, let operation, let right, let options):
            let (left, right) = (left.plain, right.plain)
            var isMany = false
            var quantifier: PredicateQuantifier?
            if case .path(let path) = left {
                isMany = path.isMany(stripping: count)
                quantifier = path.quantifier(stripping: count)
            }
            if case .path(let path) = right {
                let own = path.quantifier(stripping: count)
                if path.isMany(stripping: count) {
                    if isMany { misuse("Comparing two collection columns is not permitted.") }
                    isMany = true
                    quantifier = own ?? quantifier
                } else {
                    quantifier = quantifier ?? own
                }
            }
            return .compare(
                left.operand(stripping: count, in: core),
                operation,
                right.operand(stripping: count, in: core),
                options: options,
                quantifier: isMany ? quantifier ?? .any : quantifier
            )
        }
    }

    /// The condition that the elements to which a path leads meet this one, as many as its quantifier asks for.
    ///
    /// With `byOne`, the condition that one at least meets it, that stands for counting those that do.
    private func met(by path: QueryPath, stripping count: Int, byOne: QueryNode? = nil) -> QueryNode {
        let depth = path.collections.count { $0 > count }
        switch path.quantifier(stripping: count) {
        case .all: return .not(QueryNode.not(self).metByOne(behind: depth))
        case PredicateQuantifier.none?: return .not(byOne ?? metByOne(behind: depth))
        default: return byOne ?? metByOne(behind: depth)
        }
    }

    /// The condition that an element behind a number of collections meets this one.
    private func metByOne(behind depth: Int) -> QueryNode {
        (0..<depth).reduce(self) { inner, _ in .comparison(.subqueryCount(inner), .greater, .value(.int(0)), .none) }
    }

    private func operand(stripping count: Int, in core: RealmCore) -> PredicateOperand {
        switch self {
        case .value(let value): return .value(value)
        case .objects(let objects): return .value(attempt { try PredicateFormat.value(objects, in: core) })
        case .embedded, .oneOf: misuse("An embedded object can only be compared with a property.")
        case .path(let path): return path.operand(stripping: count)
        case .root, .member: return plain.operand(stripping: count, in: core)
        case .subqueryCount(let condition):
            let (path, length) = condition.subqueryCollection(behind: count)
            // `map.values` stands for the objects that the map holds.
            let namesValues = path.steps.dropFirst(length).first == .allValues
            return .subqueryCount(
                PredicateSubquery(
                    collection: PropertyPath(steps: Array(path.steps[count..<length])),
                    predicate: condition.predicate(stripping: namesValues ? length + 1 : length, in: core)
                )
            )
        case .comparison, .memberEquals, .and, .or, .not:
            misuse("A condition cannot be compared: combine conditions with &&, || and !.")
        }
    }

    /// The collection whose elements a subquery counts: the first one of its paths behind what is stripped, the same in all of them.
    ///
    /// - Returns: A path through it, and the number of steps that lead to and include it.
    private func subqueryCollection(behind count: Int) -> (path: QueryPath, length: Int) {
        var found: (path: QueryPath, length: Int)?
        var pending = [self]
        while let node = pending.popLast()?.plain {
            switch node {
            case .root, .member, .memberEquals: break
            case .and(let parts), .or(let parts): pending += parts
            case .comparison(let left, _, let right, _): pending += [left, right]
            case .not(let inner): pending.append(inner)
            case .subqueryCount(let inner): pending.append(inner)
            case .value, .objects, .oneOf, .embedded: break
            case .path(let path):
                // Behind one collection, a way to another one may go through the entry of a map.
                if count == 0 { path.requireCollectionFirst() }
                guard let length = path.collections.first(where: { $0 > count }) else {
                    misuse("Subqueries must contain a keypath starting with a collection.")
                }
                if let found, found.path.steps.prefix(found.length) != path.steps.prefix(length) {
                    misuse("A subquery must be about one collection, not two.")
                }
                if found?.path.steps.dropFirst(length).first != .allValues { found = (path, length) }
            }
        }
        guard let found else {
            misuse("Subqueries must contain a keypath starting with a collection.")
        }
        return found
    }
}
