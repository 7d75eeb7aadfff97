import RealmModel
import RealmStorage

/// Holds when every part does.
///
/// The cheapest part goes first, the others see only the rows it left.
final class AndCondition: Condition {
    let parts: [Condition]

    init(_ parts: [Condition]) {
        self.parts = parts.enumerated()
            .sorted { ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset) }
            .map(\.element)
    }

    override var cost: Double { parts.reduce(0) { $0 + $1.cost } }

    override func test(_ location: RowLocation, key: Int64, _ context: QueryContext) throws -> Bool {
        for part in parts where try !part.test(location, key: key, context) { return false }
        return true
    }

    override func filter(_ rows: RowSet, in leaf: LeafView, _ context: QueryContext) throws {
        for part in parts {
            try part.filter(rows, in: leaf, context)
            if rows.isEmpty { return }
        }
    }

    override func rejects(_ leaf: LeafView) -> Bool { parts.contains { $0.rejects(leaf) } }

    override func describe(into lines: inout [String], indentation: String) {
        lines.append(indentation + "all of, in this order:")
        for part in parts { part.describe(into: &lines, indentation: indentation + "  ") }
    }
}

/// Holds when one part does.
///
/// Each part sees only the rows that none before it took.
final class OrCondition: Condition {
    let parts: [Condition]
    private let union: KeySource?

    init(_ parts: [Condition]) {
        self.parts = parts.enumerated()
            .sorted { ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset) }
            .map(\.element)
        let sources = parts.compactMap(\.source)
        union = sources.count == parts.count && !parts.isEmpty ? .union(sources) : nil
    }

    override var cost: Double { parts.reduce(0) { $0 + $1.cost } }

    override var source: KeySource? { union }

    override func test(_ location: RowLocation, key: Int64, _ context: QueryContext) throws -> Bool {
        for part in parts where try part.test(location, key: key, context) { return true }
        return false
    }

    override func filter(_ rows: RowSet, in leaf: LeafView, _ context: QueryContext) throws {
        let open = context.makeSet(rowCount: rows.rowCount)
        let taken = context.makeSet(rowCount: rows.rowCount)
        defer {
            context.release(open)
            context.release(taken)
        }
        let input = context.makeSet(rowCount: rows.rowCount)
        defer { context.release(input) }
        input.copy(rows)
        rows.clear()
        for part in parts where !part.rejects(leaf) {
            open.copy(input)
            open.subtract(rows)
            if open.isEmpty { return }
            taken.copy(open)
            try part.filter(taken, in: leaf, context)
            rows.union(taken)
        }
    }

    override func rejects(_ leaf: LeafView) -> Bool { parts.allSatisfy { $0.rejects(leaf) } }

    override func describe(into lines: inout [String], indentation: String) {
        lines.append(indentation + "one of, in this order:")
        for part in parts { part.describe(into: &lines, indentation: indentation + "  ") }
    }
}

/// Holds when its part does not.
final class NotCondition: Condition {
    private let part: Condition

    init(_ part: Condition) {
        self.part = part
    }

    override var cost: Double { part.cost }

    override func test(_ location: RowLocation, key: Int64, _ context: QueryContext) throws -> Bool {
        try !part.test(location, key: key, context)
    }

    override func filter(_ rows: RowSet, in leaf: LeafView, _ context: QueryContext) throws {
        if part.rejects(leaf) { return }
        let matching = context.makeSet(rowCount: rows.rowCount)
        defer { context.release(matching) }
        matching.copy(rows)
        try part.filter(matching, in: leaf, context)
        rows.subtract(matching)
    }

    override func describe(into lines: inout [String], indentation: String) {
        lines.append(indentation + "not:")
        part.describe(into: &lines, indentation: indentation + "  ")
    }
}
