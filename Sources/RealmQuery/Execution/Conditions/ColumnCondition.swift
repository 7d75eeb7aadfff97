import RealmModel
import RealmStorage

/// A property of the row itself against constants: the fast one.
final class ColumnCondition: Condition {
    private let table: TableView
    private let property: Int
    private let kind: ColumnKind
    private let valueTest: ValueTest
    private let keySource: KeySource?
    private let keyCandidate: KeySource?

    /// - Parameters:
    ///   - table: The class.
    ///   - property: The property.
    ///   - kind: How the column lies in a leaf.
    ///   - test: What its values are tested for.
    ///   - source: Where the rows are found, when the property has an index.
    ///   - candidate: Where they would be found, when an index over several properties has it.
    init(
        _ table: TableView,
        property: Int,
        kind: ColumnKind,
        test: ValueTest,
        source: KeySource?,
        candidate: KeySource?
    ) {
        self.table = table
        self.property = property
        self.kind = kind
        valueTest = test
        keySource = source
        keyCandidate = candidate
    }

    override var cost: Double { valueTest.cost }

    override var source: KeySource? { keySource }

    override var candidate: KeySource? { keyCandidate }

    override func test(_ location: RowLocation, key: Int64, _ context: QueryContext) throws -> Bool {
        let column = try table.column(property, in: location.leaf)
        return try valueTest.passes(column.borrowed(location.row, as: kind), context)
    }

    override func filter(_ rows: RowSet, in leaf: LeafView, _ context: QueryContext) throws {
        try valueTest.filter(table.column(property, in: leaf), rows, context)
    }

    override func rejects(_ leaf: LeafView) -> Bool {
        valueTest.rejects(leaf, column: table.column(property))
    }

    override func fastCount(_ leaf: LeafView) throws -> Int? {
        try valueTest.fastCount(table.column(property, in: leaf))
    }

    override func describe(into lines: inout [String], indentation: String) {
        lines.append("\(indentation)\(table.schema.properties[property].name) \(valueTest.explanation)")
    }
}

/// The row itself against constants: `SELF == %@`.
final class RowCondition: Condition {
    private let valueTest: ValueTest
    private let keySource: KeySource?

    init(_ test: ValueTest, source: KeySource?) {
        valueTest = test
        keySource = source
    }

    override var cost: Double { valueTest.cost }

    override var source: KeySource? { keySource }

    override func test(_ location: RowLocation, key: Int64, _ context: QueryContext) throws -> Bool {
        try valueTest.passes(.int(key), context)
    }

    override func describe(into lines: inout [String], indentation: String) {
        lines.append("\(indentation)key \(valueTest.explanation)")
    }
}
