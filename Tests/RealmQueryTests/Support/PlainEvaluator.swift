import RealmModel
import RealmQuery

/// Evaluates predicates over plain rows: slow, simple, and independent of the engine.
struct PlainEvaluator {
    let world: QueryWorld
    private let manyPaths: [String: Set<PropertyPath>]
    /// Per link or list property and target key: the rows that link to it, as often as they do.
    private var incoming: [String: [Int64: [Int64]]] = [:]

    init(world: QueryWorld) {
        self.world = world
        manyPaths = world.paths.mapValues { Set($0.filter(\.isMany).map(\.path)) }
        for (name, schema) in world.schema.classes {
            for property in schema.properties where property.kind == .object {
                for key in world.keys(name) {
                    for target in linked(property, name, key) {
                        incoming["\(name).\(property.name)", default: [:]][target, default: []].append(key)
                    }
                }
            }
        }
    }

    func matches(_ predicate: Predicate, _ className: String, _ key: Int64) -> Bool {
        switch predicate {
        case .constant(let value): value
        case .and(let parts): parts.allSatisfy { matches($0, className, key) }
        case .or(let parts): parts.contains { matches($0, className, key) }
        case .not(let part): !matches(part, className, key)
        case .comparison(let comparison): holds(comparison, className, key)
        }
    }

    /// The rows in an order by properties of their own, equal ones as they come.
    func sorted(_ keys: [Int64], of className: String, by order: [(path: String, ascending: Bool)]) -> [Int64] {
        let rows = world.rows[className]!
        return keys.enumerated()
            .sorted { first, second in
                for (path, ascending) in order {
                    let result = SortingPropertyTests.order(
                        rows[first.element]!.values[path]!,
                        rows[second.element]!.values[path]!
                    )
                    if result != 0 { return ascending == (result < 0) }
                }
                return first.offset < second.offset
            }
            .map(\.element)
    }

    /// The first row of each group of rows with equal values.
    func distinct(_ keys: [Int64], of className: String, by paths: [String]) -> [Int64] {
        let rows = world.rows[className]!
        var kept: [Int64] = []
        for key in keys {
            let isKnown = kept.contains { other in
                paths.allSatisfy { DocumentedOrder.compare(rows[key]!.values[$0]!, rows[other]!.values[$0]!) == 0 }
            }
            if !isKnown { kept.append(key) }
        }
        return kept
    }

    private func holds(_ comparison: PredicateComparison, _ className: String, _ key: Int64) -> Bool {
        let left = values(of: comparison.left, comparedWith: comparison.right, className, key)
        let rights: [StoredValue]
        var isList = false
        let isAny = comparison.left.isAny(in: world, className) == true
        if case .value(.list(let list)) = comparison.right {
            rights = list.map { isAny ? storedForAny($0) : converted(stored($0), for: comparison.left, className) }
            isList = true
        } else if isAny, case .value(let value) = comparison.right {
            rights = [storedForAny(value)]
        } else {
            rights = values(of: comparison.right, comparedWith: comparison.left, className, key)
                .map { value in
                    guard case .value = comparison.right else { return value }
                    return converted(value, for: comparison.left, className)
                }
        }
        func single(_ value: StoredValue) -> Bool {
            if isList, comparison.operation == .in {
                return rights.contains { compare(value, .equal, $0, comparison.options) }
            }
            if isList {
                let end: ComparisonOperator = comparison.operation == .within ? .less : .lessOrEqual
                return compare(value, .greaterOrEqual, rights[0], []) && compare(value, end, rights[1], [])
            }
            return comparison.quantifier == .all
                ? rights.allSatisfy { compare(value, comparison.operation, $0, comparison.options) }
                : rights.contains { compare(value, comparison.operation, $0, comparison.options) }
        }
        switch comparison.quantifier {
        case .all: return left.allSatisfy(single)
        case PredicateQuantifier.none?: return !left.contains(where: single)
        default: return left.contains(where: single)
        }
    }

    /// The values of an operand; links name their table where they are compared with values of any kind, as those do.
    private func values(
        of operand: PredicateOperand,
        comparedWith other: PredicateOperand,
        _ className: String,
        _ key: Int64
    ) -> [StoredValue] {
        let values = values(of: operand, className, key)
        guard other.isAny(in: world, className), case .path(let path) = operand,
            let target = world.paths[className]?.first(where: { $0.path == path })?.target,
            let table = world.model.schema[target]?.tableID
        else { return values }
        return values.map { value in
            guard case .link(let key) = value else { return value }
            return StoredValue.anyLink(table: table, key: key)
        }
    }

    private func values(of operand: PredicateOperand, _ className: String, _ key: Int64) -> [StoredValue] {
        switch operand {
        case .value(let value): return [stored(value)]
        case .path(let path):
            let isMany = manyPaths[className]?.contains(path) ?? false
            return values(path.steps[...], className, key, behindCollection: isMany)
        case .subqueryCount(let subquery):
            let target = targets(subquery.collection, className, key)
            return [.int(Int64(target.keys.count { matches(subquery.predicate, target.className, $0) }))]
        }
    }

    private func property(_ name: String, _ className: String) -> PropertySchema {
        world.schema.classes[className]![name]!
    }

    /// The objects of a collection of one row.
    private func targets(_ path: PropertyPath, _ className: String, _ key: Int64) -> (className: String, keys: [Int64])
    {
        guard case .property(let name) = path.steps[0] else { return (className, []) }
        let property = property(name, className)
        let targetClass = property.targetClass ?? ""
        return (targetClass, linked(property, className, key))
    }

    private func linked(_ property: PropertySchema, _ className: String, _ key: Int64) -> [Int64] {
        if property.kind == .linkingObjects {
            return incoming["\(property.targetClass ?? "").\(property.originProperty ?? "")"]?[key] ?? []
        }
        let row = world.rows[className]![key]!
        let stored: [StoredValue] =
            switch property.collection {
            case .list, .set: row.lists[property.name]!
            case .map: row.maps[property.name]!.map(\.value)
            case .none: [row.values[property.name]!]
            }
        return stored.compactMap { if case .link(let key) = $0 { key } else { nil } }
    }

    private func values(
        _ steps: ArraySlice<PropertyPath.Step>,
        _ className: String,
        _ key: Int64,
        behindCollection: Bool
    ) -> [StoredValue] {
        guard let first = steps.first else { return [.link(key)] }
        guard case .property(let name) = first else { return [] }
        let property = property(name, className)
        let row = world.rows[className]?[key]
        var rest = steps.dropFirst()
        let target = property.targetClass ?? ""
        func linkedValues(_ targets: [Int64], isMany: Bool) -> [StoredValue] {
            if !isMany, targets.isEmpty { return behindCollection ? [] : [.null] }
            return targets.flatMap { values(rest, target, $0, behindCollection: behindCollection || isMany) }
        }
        var elements: [StoredValue]?
        if property.collection == .map {
            let entries = row!.maps[name]!
            switch rest.first {
            case .allKeys: return entries.map { .string($0.key) }
            case .allValues: rest = rest.dropFirst()
            case .key(let key):
                rest = rest.dropFirst()
                let value = entries.first { $0.key.utf8.elementsEqual(key.utf8) }?.value ?? .null
                if property.kind == .object {
                    if case .link(let key) = value { return linkedValues([key], isMany: false) }
                    return linkedValues([], isMany: false)
                }
                return inside(value, rest, skips: behindCollection || rest.contains(.anyElement))
            default: break
            }
            elements = entries.map(\.value)
        } else if property.collection != .none {
            elements = row!.lists[name]!
        }
        let isObjects = property.kind == .object || property.kind == .linkingObjects
        if property.kind == .linkingObjects { elements = linked(property, className, key).map { .link($0) } }
        guard let elements else {
            let value = row!.values[name]!
            if !isObjects { return inside(value, rest, skips: behindCollection || rest.contains(.anyElement)) }
            if rest.isEmpty { return [value] }
            return linkedValues(linked(property, className, key), isMany: false)
        }
        switch rest.first {
        case .count?: return [.int(Int64(elements.count))]
        case .minimum?, .maximum?, .sum?, .average?:
            let operation = rest.removeFirst()
            let numbers =
                isObjects
                ? linked(property, className, key).flatMap { values(rest, target, $0, behindCollection: false) }
                : elements
            return [aggregate(operation, numbers, of: isObjects ? lastKind(rest, target) : property.kind)]
        default: break
        }
        if isObjects { return linkedValues(linked(property, className, key), isMany: true) }
        return elements.flatMap { inside($0, rest, skips: true) }
    }

    /// The values behind steps into a value of any kind; null for a way that leads nowhere, unless it is skipped.
    private func inside(_ value: StoredValue, _ steps: ArraySlice<PropertyPath.Step>, skips: Bool) -> [StoredValue] {
        guard let step = steps.first else { return [value] }
        let rest = steps.dropFirst()
        switch (step, value) {
        case (.key(let name), .dictionary(let entries)):
            if let entry = entries.first(where: { $0.key.utf8.elementsEqual(name.utf8) }) {
                return inside(entry.value, rest, skips: skips)
            }
        case (.index(let index), .list(let values)):
            if index < values.count { return inside(values[index], rest, skips: skips) }
        case (.anyElement, .list(let values)): return values.flatMap { inside($0, rest, skips: skips) }
        case (.anyElement, .dictionary(let entries)):
            return entries.flatMap { inside($0.value, rest, skips: skips) }
        default: break
        }
        return skips ? [] : [.null]
    }

    /// The type of the property at the end of a path of properties.
    private func lastKind(_ steps: ArraySlice<PropertyPath.Step>, _ className: String) -> PropertyKind {
        guard case .property(let name)? = steps.first else { return .object }
        let property = property(name, className)
        return steps.count == 1 ? property.kind : lastKind(steps.dropFirst(), property.targetClass ?? "")
    }

    private func aggregate(_ step: PropertyPath.Step, _ values: [StoredValue], of kind: PropertyKind) -> StoredValue {
        if kind == .any || values.contains(where: { if case .decimal = $0 { true } else { false } }) {
            return decimalAggregate(step, values.filter(PlainNumber.isNumber))
        }
        let ints: [Int64] = values.compactMap { if case .int(let value) = $0 { value } else { nil } }
        let doubles = values.compactMap(PlainEvaluator.double)
        if case .sum = step {
            if ints.isEmpty, let first = doubles.first { return .double(doubles.dropFirst().reduce(first, +)) }
            return .int(ints.reduce(0, &+))
        }
        if doubles.isEmpty { return .null }
        let ordered = doubles.filter { !$0.isNaN }
        if values.contains(where: { if case .date = $0 { true } else { false } }) {
            if case .minimum = step { return .date(ordered.min() ?? .nan) }
            return .date(ordered.max() ?? .nan)
        }
        switch step {
        case .average: return .double(doubles.reduce(0, +) / Double(doubles.count))
        case .minimum where !ints.isEmpty: return .int(ints.min()!)
        case .maximum where !ints.isEmpty: return .int(ints.max()!)
        case .minimum: return .double(ordered.min() ?? .nan)
        default: return .double(ordered.max() ?? .nan)
        }
    }

    /// Sums of decimals, and of numbers among values of any kind, are decimals: as doubles they would be others.
    ///
    /// The addition is the library's, which the published vectors prove.
    private func decimalAggregate(_ step: PropertyPath.Step, _ numbers: [StoredValue]) -> StoredValue {
        func decimal(_ value: StoredValue) -> DecimalNumber {
            switch value {
            case .int(let value): DecimalNumber(value)
            case .float(let value): DecimalNumber(value)
            case .double(let value): DecimalNumber(value)
            case .decimal(let value): value.number
            default: .zero
            }
        }
        if case .sum = step { return .decimal(DecimalBytes(numbers.reduce(.zero) { $0 + decimal($1) })) }
        let ordered = numbers.filter { !PlainNumber.isNaN($0) }
        let isMinimum = if case .minimum = step { true } else { false }
        return ordered.min { (PlainNumber.compare($0, $1) < 0) == isMinimum && PlainNumber.compare($0, $1) != 0 }
            ?? numbers.first ?? .null
    }

    private func stored(_ value: PredicateValue) -> StoredValue {
        switch value {
        case .null, .list: .null
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .float(let value): .float(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        case .data(let value): .data(value)
        case .date(let value): .date(value)
        case .objectId(let value): .objectId(value)
        case .uuid(let value): .uuid(value)
        case .decimal(let value): .decimal(value)
        case .object(_, let key): .link(key)
        }
    }

    /// A constant in the type of a decimal or float property.
    private func converted(_ value: StoredValue, for operand: PredicateOperand, _ className: String) -> StoredValue {
        guard case .path(let path) = operand, let kind = world.paths[className]?.first(where: { $0.path == path })?.kind
        else { return value }
        switch (kind, value) {
        case (.decimal128, .double(let value)): return .decimal(DecimalBytes(DecimalNumber(value)))
        case (.decimal128, .float(let value)): return .decimal(DecimalBytes(DecimalNumber(value)))
        case (.float, .double(let value)): return .float(Float(value))
        case (.float, .int(let value)): return .float(Float(value))
        default: return value
        }
    }

    /// A constant as values of any kind hold it: a link names its table.
    private func storedForAny(_ value: PredicateValue) -> StoredValue {
        guard case .object(let className, let key) = value, let id = world.model.schema[className]?.tableID else {
            return stored(value)
        }
        return .anyLink(table: id, key: key)
    }

    static func double(_ value: StoredValue) -> Double? {
        switch value {
        case .int(let value): Double(value)
        case .float(let value): Double(value)
        case .double(let value), .date(let value): value
        case .decimal(let value): value.number.double
        default: nil
        }
    }

    private func compare(
        _ left: StoredValue,
        _ operation: ComparisonOperator,
        _ right: StoredValue,
        _ options: StringComparisonOptions
    ) -> Bool {
        let (leftIsNull, rightIsNull) = (Self.isNull(left), Self.isNull(right))
        if leftIsNull || rightIsNull {
            switch operation {
            case .equal: return leftIsNull && rightIsNull
            case .notEqual: return leftIsNull != rightIsNull
            default: return false
            }
        }
        func ordered<T: Comparable>(_ a: T, _ b: T) -> Bool {
            switch operation {
            case .equal: a == b
            case .notEqual: a != b
            case .less: a < b
            case .lessOrEqual: a <= b
            case .greater: a > b
            case .greaterOrEqual: a >= b
            default: false
            }
        }
        switch (left, right) {
        case (.int(let a), .int(let b)), (.link(let a), .link(let b)): return ordered(a, b)
        case (.bool(let a), .bool(let b)): return ordered(a ? 1 : 0, b ? 1 : 0)
        case (.objectId(let a), .objectId(let b)): return ordered(a, b)
        case (.uuid(let a), .uuid(let b)): return ordered(a, b)
        case (.string(let a), .string(let b)): return text(fold(a, options), operation, fold(b, options))
        case (.data(let a), .data(let b)): return text(a, operation, b)
        case (.anyLink, .anyLink), (.list, .list), (.dictionary, .dictionary):
            return operation == .equal ? isSame(left, right) : operation == .notEqual && !isSame(left, right)
        case (.date(let a), .date(let b)): return ordered(a, b)
        default:
            // What cannot be compared is different, and in no order.
            guard PlainNumber.isNumber(left), PlainNumber.isNumber(right), !PlainNumber.isNaN(left),
                !PlainNumber.isNaN(right)
            else { return operation == .notEqual }
            return ordered(PlainNumber.compare(left, right), 0)
        }
    }

    private static func isNull(_ value: StoredValue) -> Bool {
        if case .null = value { return true }
        return false
    }

    /// Whether two values inside lists and dictionaries are the same; numbers of all types compare by value.
    private func isSame(_ left: StoredValue, _ right: StoredValue) -> Bool {
        switch (left, right) {
        case (.list(let one), .list(let other)): return one.count == other.count && zip(one, other).allSatisfy(isSame)
        case (.dictionary(let one), .dictionary(let other)):
            return one.count == other.count
                && zip(one, other).allSatisfy { $0.key.utf8.elementsEqual($1.key.utf8) && isSame($0.value, $1.value) }
        case (.anyLink(let table, let key), .anyLink(let other, let otherKey)): return table == other && key == otherKey
        case (.null, .null): return true
        case (.date, .date) where PlainNumber.isNaN(left) && PlainNumber.isNaN(right): return true
        // In there NaN is equal to itself.
        case _ where PlainNumber.isNumber(left) && PlainNumber.isNumber(right) && PlainNumber.isNaN(left):
            return PlainNumber.isNaN(right)
        default: return compare(left, .equal, right, [])
        }
    }

    private func fold(_ text: String, _ options: StringComparisonOptions) -> [UInt8] {
        var text = text
        if options.contains(.caseInsensitive) { text = text.lowercased() }
        if options.contains(.diacriticInsensitive) {
            text = String(text.map { $0 == "é" ? "e" : $0 == "É" ? "E" : $0 })
        }
        return Array(text.utf8)
    }

    private func text(_ a: [UInt8], _ operation: ComparisonOperator, _ b: [UInt8]) -> Bool {
        switch operation {
        case .equal: return a == b
        case .notEqual: return a != b
        case .less: return a.lexicographicallyPrecedes(b)
        case .lessOrEqual: return !b.lexicographicallyPrecedes(a)
        case .greater: return b.lexicographicallyPrecedes(a)
        case .greaterOrEqual: return !a.lexicographicallyPrecedes(b)
        case .beginsWith: return a.starts(with: b)
        case .endsWith: return a.reversed().starts(with: b.reversed())
        case .contains:
            return b.isEmpty || (a.count >= b.count && (0...(a.count - b.count)).contains { a[$0...].starts(with: b) })
        case .like:
            return like(
                String(decoding: a, as: UTF8.self).unicodeScalars[...],
                String(decoding: b, as: UTF8.self).unicodeScalars[...]
            )
        default: return false
        }
    }

    private func like(_ text: Substring.UnicodeScalarView, _ pattern: Substring.UnicodeScalarView) -> Bool {
        guard let head = pattern.first else { return text.isEmpty }
        if head == "*" {
            return like(text, pattern.dropFirst()) || (!text.isEmpty && like(text.dropFirst(), pattern))
        }
        guard let first = text.first, head == "?" || head == first else { return false }
        return like(text.dropFirst(), pattern.dropFirst())
    }
}

extension PredicateOperand {
    /// Whether the operand is a path to values of any kind.
    fileprivate func isAny(in world: QueryWorld, _ className: String) -> Bool {
        guard case .path(let path) = self else { return false }
        return world.paths[className]?.contains { $0.path == path && $0.kind == .any } == true
    }
}
