import RealmModel
import RealmStorage

/// A path with its names resolved.
struct ResolvedPath {
    var reader: PathReader
    /// The type of its values.
    var kind: PropertyKind
    /// The class that its values link to.
    var targetClass: String?
    /// The path as it was written.
    var text: String
    /// The class whose property ends the path, for messages.
    var ownerClass: String

    /// The table and ordinal when the path is a single property of the row itself.
    var ownColumn: (table: TableView, property: Int, kind: ColumnKind)? {
        guard reader.hops.isEmpty, case .value(let table, let property, let kind) = reader.terminal else { return nil }
        return (table, property, kind)
    }

    /// Whether the path is the row itself.
    var isOwnRow: Bool {
        guard reader.hops.isEmpty, case .row = reader.terminal else { return false }
        return true
    }

    /// Whether the path ends in a collection, not in a property of its elements.
    var endsInCollection: Bool {
        switch reader.terminal {
        case .elements: true
        case .row: reader.hops.last?.isMany ?? false
        default: false
        }
    }

    /// Whether CONTAINS asks for an element, and not for a part of each: names, texts, data and values of any kind of a map may have such a part.
    func asksForMembers(_ path: PropertyPath) -> Bool {
        guard path.steps.last?.namesEntries == true else { return endsInCollection }
        return reader.isMany && kind != .string && kind != .data && kind != .any
    }

    /// The type in error messages.
    var typeName: String {
        kind == .object ? "object of type '\(targetClass ?? "")'" : kind.name
    }
}

/// Resolves the names of one query and counts what its runs need.
struct PathResolver {
    let model: ModelView
    /// The number of hops handed out so far.
    private(set) var slotCount = 0

    init(model: ModelView) {
        self.model = model
    }

    /// Resolves a path that starts at the rows of a table.
    mutating func resolve(_ path: PropertyPath, from root: TableView) throws -> ResolvedPath {
        guard path.steps.count <= PredicateLimits.pathStepCount else {
            throw QueryError("A key path has more than \(PredicateLimits.pathStepCount) steps.")
        }
        let text = path.description
        var hops: [PathHop] = []
        var table = root
        func finish(
            _ terminal: PathTerminal,
            _ kind: PropertyKind,
            target: String? = nil,
            in table: TableView
        ) -> ResolvedPath {
            ResolvedPath(
                reader: PathReader(hops: hops, terminal: terminal),
                kind: kind,
                targetClass: target,
                text: text,
                ownerClass: table.schema.name
            )
        }
        var index = 0
        while index < path.steps.count {
            let (ordinal, property) = try self.property(path.steps[index], in: table, text)
            var rest = path.steps[(index + 1)...]
            if property.collection == .map {
                switch rest.first {
                case .allKeys:
                    guard rest.count == 1 else { throw Self.notALink(property, in: table, text) }
                    return finish(.keys(table, ordinal), .string, in: table)
                case .allValues:
                    index += 1
                    rest = rest.dropFirst()
                case .key(let name):
                    index += 1
                    rest = rest.dropFirst()
                    guard property.isLink else {
                        let entry = PathTerminal.entry(table, ordinal, name)
                        if let inside = try Self.inside(entry, rest, property, in: table, text) {
                            return finish(inside, .any, in: table)
                        }
                        return finish(entry, property.kind, in: table)
                    }
                    let hop = try makeHop(ordinal, property, in: table, entry: name)
                    hops.append(hop)
                    table = hop.target
                    index += 1
                    continue
                default: break
                }
            }
            let isMany = property.collection != .none || property.kind == .linkingObjects
            if isMany, let next = rest.first, next.isOperator, !next.isSubscript {
                return try resolveOperator(next, rest.dropFirst(), ordinal, property, in: table, text) {
                    self_,
                    terminal,
                    kind in
                    finish(terminal, kind, in: self_)
                }
            }
            if property.isLink || property.kind == .linkingObjects {
                if !isMany, rest.isEmpty {
                    return finish(
                        .value(table, ordinal, .int),
                        .object,
                        target: property.targetClass,
                        in: table
                    )
                }
                let hop = try makeHop(ordinal, property, in: table)
                hops.append(hop)
                table = hop.target
                index += 1
                continue
            }
            let terminal: PathTerminal =
                isMany ? .elements(table, ordinal) : .value(table, ordinal, property.kind.columnKind)
            if let inside = try Self.inside(terminal, rest, property, in: table, text) {
                return finish(inside, .any, in: table)
            }
            return finish(terminal, property.kind, in: table)
        }
        return finish(.row, .object, target: table.schema.name, in: table)
    }

    /// Resolves the collection of a `SUBQUERY`: the way to its owner, and the collection itself.
    mutating func resolveCollection(
        _ path: PropertyPath,
        from root: TableView
    ) throws -> (hops: [PathHop], collection: PathHop) {
        let resolved = try resolve(path, from: root)
        guard case .row = resolved.reader.terminal, let last = resolved.reader.hops.last, last.isMany else {
            throw Self.noCollection(path)
        }
        let before = Array(resolved.reader.hops.dropLast())
        guard !before.contains(where: \.isMany) else {
            throw QueryError(
                "Invalid keypath '\(path)': a subquery must be over one collection, not over a collection of collections."
            )
        }
        return (before, last)
    }

    /// Why a path is nothing that a `SUBQUERY` counts.
    private static func noCollection(_ path: PropertyPath) -> QueryError {
        switch path.steps.last {
        case .key:
            QueryError(
                "Subqueries do not support map subscripts: '\(path)' is one object or value, whose properties are compared "
                    + "without SUBQUERY."
            )
        case .index, .anyElement:
            QueryError(
                "Subqueries do not support AnyRealmValue subscripts: compare '\(path)' itself, with ANY for each element."
            )
        case .allKeys:
            QueryError(
                "Subqueries do not support the keys of a map: use ANY, ALL or NONE with '\(path)' instead of SUBQUERY."
            )
        default:
            QueryError(
                "Subqueries must contain a keypath starting with a collection. '\(path)' is no collection of objects."
            )
        }
    }

    private func property(
        _ step: PropertyPath.Step,
        in table: TableView,
        _ text: String
    ) throws -> (Int, PropertySchema) {
        switch step {
        case .property(let name):
            if name.isEmpty { throw QueryError("Invalid keypath '\(text)': no key name after last '.'") }
            guard let ordinal = table.schema.ordinal(of: name) else {
                throw QueryError("Property '\(name)' not found in object of type '\(table.schema.name)'")
            }
            return (ordinal, table.schema.properties[ordinal])
        case .unknownOperator(let name):
            throw QueryError("Invalid keypath '\(text)': Unsupported collection operation '\(name)'")
        case .key, .index, .anyElement:
            throw QueryError(
                "Invalid keypath '\(text)': only dictionaries and realm `Any` support subscript predicates"
            )
        case .allKeys, .allValues:
            throw QueryError("Invalid keypath '\(text)': \(step.name) must follow a dictionary property")
        case .count, .minimum, .maximum, .sum, .average:
            throw QueryError("Invalid keypath '\(text)': \(step.name) must follow a collection property")
        }
    }

    private mutating func makeHop(
        _ ordinal: Int,
        _ property: PropertySchema,
        in table: TableView,
        entry: String? = nil
    ) throws -> PathHop {
        guard let targetClass = property.targetClass, let target = try model.table(named: targetClass) else {
            throw QueryError(
                "Class '\(property.targetClass ?? "")' of property '\(property.name)' is not in the schema"
            )
        }
        defer { slotCount += 1 }
        if property.kind == .linkingObjects {
            guard let origin = property.originProperty.flatMap({ target.schema.ordinal(of: $0) }) else {
                throw QueryError(
                    "Property '\(property.originProperty ?? "")' not found in object of type '\(targetClass)'"
                )
            }
            return PathHop(kind: .backlinks, source: table, target: target, property: origin, slot: slotCount)
        }
        return PathHop(
            kind: entry.map { .entry($0) } ?? (property.collection == .none ? .link : .list),
            source: table,
            target: target,
            property: ordinal,
            slot: slotCount
        )
    }

    /// `@count` and the numeric operators behind a collection.
    private mutating func resolveOperator(
        _ step: PropertyPath.Step,
        _ rest: ArraySlice<PropertyPath.Step>,
        _ ordinal: Int,
        _ property: PropertySchema,
        in table: TableView,
        _ text: String,
        finish: (TableView, PathTerminal, PropertyKind) -> ResolvedPath
    ) throws -> ResolvedPath {
        if case .unknownOperator(let name) = step {
            throw QueryError("Invalid keypath '\(text)': Unsupported collection operation '\(name)'")
        }
        if case .allKeys = step {
            throw QueryError("Invalid keypath '\(text)': @allKeys must follow a dictionary property")
        }
        if case .allValues = step {
            throw QueryError("Invalid keypath '\(text)': @allValues must follow a dictionary property")
        }
        let isObjects = property.isLink || property.kind == .linkingObjects
        let collection: PathCollection =
            isObjects ? .objects(try makeHop(ordinal, property, in: table)) : .values(table, ordinal)
        guard let operation = step.aggregate else {
            if rest.contains(where: \.isOperator) {
                throw QueryError("Invalid keypath '\(text)': at most one collection operation per keypath is supported")
            }
            guard rest.isEmpty else { throw QueryError("Invalid keypath '\(text)': @count must appear at the end") }
            return finish(table, .count(collection), .int)
        }
        if rest.contains(where: \.isOperator) {
            throw QueryError("Invalid keypath '\(text)': at most one collection operation per keypath is supported")
        }
        var kind = property.kind
        var tail: PathReader?
        if case .objects(let hop) = collection {
            guard !rest.isEmpty else {
                throw QueryError("Invalid keypath '\(text)': \(step.name) must be followed by a numeric property")
            }
            let end = try resolve(PropertyPath(steps: Array(rest)), from: hop.target)
            guard !end.reader.isMany else {
                throw QueryError(
                    "Invalid keypath '\(text)': at most one collection per keypath is supported behind \(step.name)"
                )
            }
            tail = end.reader
            kind = end.kind
        } else if !rest.isEmpty {
            throw Self.notALink(property, in: table, text)
        }
        switch kind {
        case .int, .float, .double, .decimal128, .any: break
        case .date:
            if operation == .sum || operation == .average { throw QueryError("Cannot sum or average date properties") }
        default:
            throw QueryError("Invalid keypath '\(text)': \(step.name) must be followed by a numeric property")
        }
        let result: PropertyKind =
            switch operation {
            case .average: ValueTestFactory.isStored(kind) ? .decimal128 : .double
            case .sum: ValueTestFactory.isStored(kind) ? .decimal128 : kind == .int ? .int : .double
            case .minimum, .maximum: kind
            }
        return finish(
            table,
            .aggregate(PathAggregate(operation, of: collection, tail: tail, kind: kind)),
            result
        )
    }

    /// Steps into a value of any kind; nil when there are none.
    private static func inside(
        _ terminal: PathTerminal,
        _ rest: ArraySlice<PropertyPath.Step>,
        _ property: PropertySchema,
        in table: TableView,
        _ text: String
    ) throws -> PathTerminal? {
        if rest.isEmpty { return nil }
        guard property.kind == .any else {
            if case .entry = terminal, let step = rest.first, step.isComputed || step.namesEntries {
                throw QueryError(
                    "Invalid keypath '\(text)': \(step.name) must follow a collection property; the entry of a map is one "
                        + "value, which is compared as it is"
                )
            }
            if rest.first?.isSubscript == true {
                throw QueryError(
                    "Invalid keypath '\(text)': only dictionaries and realm `Any` support subscript predicates"
                )
            }
            throw notALink(property, in: table, text)
        }
        guard rest.allSatisfy(\.isSubscript) else { throw notALink(property, in: table, text) }
        return .inside(InnerPath(terminal, steps: Array(rest)))
    }

    private static func notALink(_ property: PropertySchema, in table: TableView, _ text: String) -> QueryError {
        QueryError(
            "Invalid keypath '\(text)': Property '\(table.schema.name).\(property.name)' is not a link or collection and "
                + "can only appear at the end of a keypath"
        )
    }
}

extension PropertyPath {
    /// Whether `@allKeys` or `@allValues` is on the way.
    var namesEntries: Bool { steps.contains(where: \.namesEntries) }
}

extension PropertyPath.Step {
    /// Whether the step is anything but a property.
    var isOperator: Bool {
        if case .property = self { return false }
        return true
    }

    /// Whether the step goes into a dictionary or a value of any kind.
    var isSubscript: Bool {
        switch self {
        case .key, .index, .anyElement: true
        default: false
        }
    }

    /// Whether the step computes one value of a collection.
    package var isComputed: Bool { self == .count || aggregate != nil }

    /// Whether the step is `@allKeys` or `@allValues`.
    var namesEntries: Bool { self == .allKeys || self == .allValues }

    /// The computation of `@min`, `@max`, `@sum` and `@avg`.
    var aggregate: AggregateOperation? {
        switch self {
        case .minimum: .minimum
        case .maximum: .maximum
        case .sum: .sum
        case .average: .average
        default: nil
        }
    }
}
