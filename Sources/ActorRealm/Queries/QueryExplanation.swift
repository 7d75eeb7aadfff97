import RealmQuery

/// How a query finds its objects, and what that took when it was asked.
public struct QueryExplanation: Sendable, CustomStringConvertible {
    /// The way to the objects: an index, a primary key, links or a scan, in words.
    public let access: String
    /// Whether an index, a primary key or links lead to the objects; false for a scan.
    public let usesIndex: Bool
    /// What the objects found so are tested for, the cheapest condition first.
    public let conditions: [String]
    /// What happens to the objects that match: orders, distinct properties, limits.
    public let steps: [String]
    /// The number of objects that were looked at.
    public let rowsExamined: Int
    /// The number of objects left out at once, because the bounds of their page rule them out.
    public let rowsSkipped: Int
    /// The number of objects that match, before orders and limits.
    public let rowsMatched: Int
    /// How long it took to find them, orders and limits included.
    public let duration: Duration

    /// The explanation, a line for each part of it.
    public var description: String {
        var lines = ["rows from: \(access)"]
        if !conditions.isEmpty { lines += ["then tested:"] + conditions.map { "  \($0)" } }
        lines += steps.map { "then: \($0)" }
        lines.append("examined \(rowsExamined), skipped \(rowsSkipped), matched \(rowsMatched) in \(duration)")
        return lines.joined(separator: "\n")
    }
}

extension RealmCollection {
    /// Runs the query anew and says how it finds its objects: through which index, at how many it looks, how long it
    /// takes.
    ///
    /// - Precondition: The collection is managed: look at ``realm``.
    public func explain() -> QueryExplanation {
        attempt { try managed("explain").explain() }
    }
}

extension _CollectionBacking {
    func explain() throws -> QueryExplanation {
        core.checkAccess()
        if let misfit {
            return QueryExplanation(
                access: "nowhere: \(misfit)",
                usesIndex: false,
                conditions: [],
                steps: [],
                rowsExamined: 0,
                rowsSkipped: 0,
                rowsMatched: 0,
                duration: .zero
            )
        }
        let descriptor = descriptor
        let clock = ContinuousClock()
        let start = clock.now
        let found = elements == nil ? try freshValues().count : try freshKeys().count
        let duration = clock.now - start
        var access = source(in: descriptor.source)
        var profile: QueryProfile?
        if let predicate = descriptor.predicate, let elements {
            let query = try CompiledQuery(predicate, table: elements.table)
            if case .table = descriptor.source {
                let measured = try query.profile()
                profile = measured
                access = measured.access
            } else {
                access += ", where \(predicate)"
            }
        }
        var steps = descriptor.steps.map(Self.words)
        if !steps.isEmpty, let index = try orderExplanation() { steps[0] += ", by the \(index)" }
        let examined = profile?.examined ?? (descriptor.predicate == nil ? 0 : found)
        return QueryExplanation(
            access: access,
            usesIndex: profile?.usesIndex ?? false,
            conditions: profile?.conditions ?? [],
            steps: steps,
            rowsExamined: examined,
            rowsSkipped: profile?.skipped ?? 0,
            rowsMatched: profile?.matched ?? found,
            duration: duration
        )
    }

    private func source(in source: CollectionDescriptor.Source) -> String {
        switch source {
        case .table: "all rows of \(descriptor.className ?? "")"
        case .list(let owner, _, let property): "the list \(owner).\(property)"
        case .nested(let owner, _, let property, _, _): "a collection in \(owner).\(property)"
        case .backlinks(let target, _, let property): "the links to one \(target) through \(property)"
        }
    }

    private static func words(_ step: CollectionDescriptor.Step) -> String {
        switch step {
        case .sort(let descriptors):
            "sort by "
                + descriptors.map { "\($0.keyPath) \($0.ascending ? "ascending" : "descending")" }
                .joined(separator: ", ")
        case .distinct(let paths): "distinct by " + paths.joined(separator: ", ")
        case .limit(let count, let offset): "limit \(count)" + (offset == 0 ? "" : ", offset \(offset)")
        case .filter(let predicate): "where \(predicate)"
        }
    }
}
