import RealmModel
import RealmStorage

/// Turns a predicate into conditions: resolves names, checks types, and refuses what makes no sense.
struct PredicateCompiler {
    private(set) var resolver: PathResolver
    private(set) var subqueryCount = 0

    init(model: ModelView) {
        resolver = PathResolver(model: model)
    }

    /// The number of hops that need a place in a run's context.
    var linkSlotCount: Int { resolver.slotCount }

    /// Compiles a predicate about the rows of a table.
    mutating func compile(_ predicate: Predicate, for table: TableView) throws -> Condition {
        // The recursion below is as deep as the tree.
        guard predicate.depth(limit: PredicateLimits.depth) <= PredicateLimits.depth else {
            throw QueryError(predicate.deepNesting(limit: PredicateLimits.depth))
        }
        return try condition(predicate, for: table)
    }

    private mutating func condition(_ predicate: Predicate, for table: TableView) throws -> Condition {
        switch predicate {
        case .constant(let value): return ConstantCondition(value)
        case .and(let parts): return try logic(parts, for: table, neutral: true)
        case .or(let parts): return try logic(parts, for: table, neutral: false)
        case .not(let part):
            let inner = try condition(part, for: table)
            if let constant = inner as? ConstantCondition { return ConstantCondition(!constant.value) }
            return NotCondition(inner)
        case .comparison(let comparison):
            return try QueryError.locating(comparison.position.value) { try compile(comparison, for: table) }
        }
    }

    /// Joins parts; constants fall out.
    private mutating func logic(_ parts: [Predicate], for table: TableView, neutral: Bool) throws -> Condition {
        var conditions: [Condition] = []
        var decided = false
        for part in parts {
            let compiled = try condition(part, for: table)
            if let constant = compiled as? ConstantCondition {
                if constant.value != neutral { decided = true }
            } else {
                conditions.append(compiled)
            }
        }
        if decided { return ConstantCondition(!neutral) }
        switch conditions.count {
        case 0: return ConstantCondition(neutral)
        case 1: return conditions[0]
        default: return neutral ? AndCondition(conditions) : OrCondition(conditions)
        }
    }

    private mutating func compile(_ comparison: PredicateComparison, for table: TableView) throws -> Condition {
        var comparison = comparison
        switch (comparison.left, comparison.right) {
        case (.value, .value):
            throw QueryError(
                "Predicate expressions must compare a keypath and another keypath or a constant value"
            )
        case (.value, .path), (.value, .subqueryCount):
            // `3 < age` reads `age > 3`; `3 IN scores` reads `ANY scores == 3`.
            let isMembership = comparison.operation == .in
            guard let mirrored = isMembership ? .equal : comparison.operation.mirrored else {
                throw QueryError("Operator '\(comparison.operation.spelling)' must have its keypath on the left side")
            }
            swap(&comparison.left, &comparison.right)
            comparison.operation = mirrored
            if isMembership, comparison.quantifier == nil { comparison.quantifier = .any }
        default: break
        }
        switch (comparison.left, comparison.right) {
        case (.path(let path), .value(let value)):
            return try compile(path, comparison, value, for: table)
        case (.path(let first), .path(let second)):
            return try compile(first, second, comparison, for: table)
        case (.subqueryCount(let subquery), .value(let value)):
            return try compile(subquery, comparison, value, for: table)
        default:
            throw QueryError("The count of a SUBQUERY can only be compared with a number")
        }
    }

    private mutating func compile(
        _ path: PropertyPath,
        _ comparison: PredicateComparison,
        _ value: PredicateValue,
        for table: TableView
    ) throws -> Condition {
        let resolved = try resolver.resolve(path, from: table)
        var operation = comparison.operation
        var quantifier = comparison.quantifier
        let isPlain = comparison.options.isEmpty || path.namesEntries
        if quantifier == nil, operation == .contains, isPlain, resolved.asksForMembers(path) {
            // `scores CONTAINS 3` asks for membership.
            operation = .equal
            quantifier = .any
        }
        // `map.@allKeys == 'a'` asks whether one of them is, with and without ANY.
        if quantifier == nil, path.namesEntries { quantifier = .any }
        if resolved.reader.isMany, quantifier == nil {
            throw QueryError(
                "Key paths that include a collection property must use aggregate operations (ANY, ALL, NONE, @count …): "
                    + "'\(path)'"
            )
        }
        let factory = ValueTestFactory(path: resolved, options: comparison.options, model: table.model)
        let test = try factory.test(operation, value)
        let source = quantifier == nil || quantifier == .any ? factory.source(operation, value, in: table) : nil
        if resolved.isOwnRow {
            return negatedIfNone(RowCondition(test, source: source), quantifier)
        }
        if let column = resolved.ownColumn {
            return negatedIfNone(
                ColumnCondition(
                    column.table,
                    property: column.property,
                    kind: column.kind,
                    test: test,
                    source: source,
                    candidate: column.table.isInCompoundIndex(column.property) && quantifier == nil
                        ? factory.candidate(operation, value) : source
                ),
                quantifier
            )
        }
        let condition = PathCondition(
            resolved.reader,
            test: test,
            requiresAll: quantifier == .all,
            label: resolved.text
        )
        return negatedIfNone(condition, quantifier)
    }

    private func negatedIfNone(_ condition: Condition, _ quantifier: PredicateQuantifier?) -> Condition {
        quantifier == PredicateQuantifier.none ? NotCondition(condition) : condition
    }

    private mutating func compile(
        _ first: PropertyPath,
        _ second: PropertyPath,
        _ comparison: PredicateComparison,
        for table: TableView
    ) throws -> Condition {
        let left = try resolver.resolve(first, from: table)
        let right = try resolver.resolve(second, from: table)
        var operation = comparison.operation
        var quantifier = comparison.quantifier
        if operation == .contains, quantifier == nil, !right.reader.isMany, left.asksForMembers(first) {
            operation = .equal
            quantifier = .any
        }
        if quantifier == nil,
            left.reader.isMany && first.namesEntries || right.reader.isMany && second.namesEntries
        {
            quantifier = .any
        }
        if operation == .in {
            guard right.reader.isMany, !left.reader.isMany else {
                throw QueryError("IN clause requires an array of items")
            }
            operation = .equal
            quantifier = quantifier ?? .any
        }
        if left.reader.isMany && right.reader.isMany {
            throw QueryError("Comparing two collection columns is not permitted: '\(first)' and '\(second)'")
        }
        if left.reader.isMany || right.reader.isMany, quantifier == nil {
            throw QueryError(
                "Key paths that include a collection property must use aggregate operations (ANY, ALL, NONE, @count …): "
                    + "'\(left.reader.isMany ? first : second)'"
            )
        }
        let numbers: Set<PropertyKind> = [.int, .float, .double, .decimal128]
        let isComparable =
            left.kind == right.kind && left.targetClass == right.targetClass
            || numbers.contains(left.kind) && numbers.contains(right.kind) || left.kind == .any || right.kind == .any
        guard isComparable else {
            throw QueryError(
                "Property type mismatch between '\(first)' of type '\(left.typeName)' and '\(second)' of type "
                    + "'\(right.typeName)'"
            )
        }
        try ValueTestFactory(path: left, options: comparison.options, model: table.model).checkOperator(operation)
        guard operation != .between, operation != .within else {
            throw QueryError("\(operation.spelling) requires an array of two constants")
        }
        let condition = PairCondition(
            left.reader,
            right.reader,
            comparison: ValueComparison(
                operation,
                options: comparison.options,
                left: left.kind,
                right: right.kind,
                linkTable: (left.targetClass ?? right.targetClass).flatMap { table.model.schema[$0]?.tableID }
            ),
            requiresAll: quantifier == .all,
            label: Predicate.comparison(comparison).description
        )
        return negatedIfNone(condition, quantifier)
    }

    private mutating func compile(
        _ subquery: PredicateSubquery,
        _ comparison: PredicateComparison,
        _ value: PredicateValue,
        for table: TableView
    ) throws -> Condition {
        guard comparison.quantifier == nil else {
            throw QueryError("SUBQUERY cannot be combined with ANY, ALL or NONE")
        }
        let (hops, collection) = try resolver.resolveCollection(subquery.collection, from: table)
        let number = subqueryCount
        subqueryCount += 1
        let inner = try condition(subquery.predicate, for: collection.target)
        let counter = SubqueryCounter(collection, condition: inner, number: number)
        let path = ResolvedPath(
            reader: PathReader(hops: hops, terminal: .subquery(counter)),
            kind: .int,
            targetClass: nil,
            text: "SUBQUERY(\(subquery.collection)).@count",
            ownerClass: table.schema.name
        )
        switch value {
        case .int, .double, .float, .decimal, .list: break
        default: throw QueryError("The count of a SUBQUERY can only be compared with a number")
        }
        let test = try ValueTestFactory(path: path, options: comparison.options, model: table.model)
            .test(comparison.operation, value)
        return PathCondition(path.reader, test: test, requiresAll: false, label: path.text)
    }
}
