import Glibc
import RealmModel
import RealmQuery

/// The rows of a realm in SQLite, and its answers to the predicates that SQL can express.
///
/// The library is loaded when the test runs; without it there is nothing to compare with.
final class SQLiteMirror {
    private typealias Open = @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>) -> Int32
    private typealias Prepare =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<OpaquePointer?>, OpaquePointer?
        ) ->
        Int32
    private typealias Step = @convention(c) (OpaquePointer?) -> Int32
    private typealias Column = @convention(c) (OpaquePointer?, Int32) -> Int64

    private let prepare: Prepare
    private let step: Step
    private let finalize: Step
    private let column: Column
    private let close: Step
    private var connection: OpaquePointer?
    private let world: QueryWorld

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Copies the rows of a world; nil when the library is not installed.
    init?(_ world: QueryWorld) throws {
        guard let library = dlopen("libsqlite3.so.0", RTLD_NOW) else { return nil }
        func symbol<Function>(_ name: String) -> Function { unsafeBitCast(dlsym(library, name), to: Function.self) }
        let open: Open = symbol("sqlite3_open")
        prepare = symbol("sqlite3_prepare_v2")
        step = symbol("sqlite3_step")
        finalize = symbol("sqlite3_finalize")
        column = symbol("sqlite3_column_int64")
        close = symbol("sqlite3_close")
        self.world = world
        guard open(":memory:", &connection) == 0 else { throw Failure(description: "SQLite does not open") }
        try copy()
    }

    deinit { _ = close(connection) }

    /// Runs a statement and returns its first column.
    private func run(_ sql: String) throws -> [Int64] {
        var statement: OpaquePointer?
        guard prepare(connection, sql, -1, &statement, nil) == 0 else { throw Failure(description: "not SQL: \(sql)") }
        defer { _ = finalize(statement) }
        var result: [Int64] = []
        while true {
            switch step(statement) {
            case 100: result.append(column(statement, 0))
            case 101: return result
            case let code: throw Failure(description: "\(code) from \(sql)")
            }
        }
    }

    private func copy() throws {
        for (name, schema) in world.schema.classes {
            let single = schema.properties.filter { $0.collection == .none && $0.kind != .linkingObjects }
            let columns = single.map { ", \"\($0.name)\"" }.joined()
            _ = try run("CREATE TABLE \(name) (k INTEGER PRIMARY KEY\(columns))")
            let lists = schema.properties.filter { $0.collection == .list || $0.collection == .set }
            for list in lists { _ = try run("CREATE TABLE \(name)_\(list.name) (k INTEGER, v)") }
            for (key, row) in world.rows[name]! {
                let values = single.map { ", " + Self.literal(row.values[$0.name] ?? .null) }.joined()
                _ = try run("INSERT INTO \(name) VALUES (\(key)\(values))")
                for list in lists {
                    for value in row.lists[list.name] ?? [] {
                        _ = try run("INSERT INTO \(name)_\(list.name) VALUES (\(key), \(Self.literal(value)))")
                    }
                }
            }
        }
    }

    /// The keys of the rows that match, ascending; nil for a predicate that is not translated.
    func keys(_ predicate: Predicate, _ className: String) throws -> [Int64]? {
        guard let condition = condition(predicate, className) else { return nil }
        return try run("SELECT k FROM \(className) t WHERE \(condition) ORDER BY k")
    }

    private func condition(_ predicate: Predicate, _ className: String) -> String? {
        switch predicate {
        case .constant(let value): return value ? "1" : "0"
        case .not(let part): return condition(part, className).map { "NOT (\($0))" }
        case .and(let parts): return joined(parts, className, "AND", empty: "1")
        case .or(let parts): return joined(parts, className, "OR", empty: "0")
        case .comparison(let comparison): return self.comparison(comparison, className)
        }
    }

    private func joined(_ parts: [Predicate], _ className: String, _ word: String, empty: String) -> String? {
        var texts: [String] = []
        for part in parts {
            guard let text = condition(part, className) else { return nil }
            texts.append("(\(text))")
        }
        return texts.isEmpty ? empty : texts.joined(separator: " \(word) ")
    }

    /// An expression for the value of a path: of the row itself or of one that it links to.
    private func single(_ path: PropertyPath, _ className: String) -> (sql: String, property: PropertySchema)? {
        let names = path.steps.compactMap { if case .property(let name) = $0 { name } else { nil as String? } }
        guard names.count == path.steps.count, (1...2).contains(names.count),
            let first = world.schema.classes[className]?[names[0]], first.collection == .none,
            first.kind != .linkingObjects
        else { return nil }
        if names.count == 1 { return ("t.\"\(names[0])\"", first) }
        guard let target = first.targetClass, let second = world.schema.classes[target]?[names[1]],
            second.collection == .none, second.kind != .linkingObjects
        else { return nil }
        return ("(SELECT x.\"\(names[1])\" FROM \(target) x WHERE x.k = t.\"\(names[0])\")", second)
    }

    private func comparison(_ comparison: PredicateComparison, _ className: String) -> String? {
        guard comparison.options == [], case .path(let path) = comparison.left else { return nil }
        if case .path(let other) = comparison.right {
            guard comparison.quantifier == nil, let left = single(path, className), let right = single(other, className)
            else { return nil }
            return test(left.sql, comparison.operation, right.sql)
        }
        guard case .value(let value) = comparison.right else { return nil }
        if let (sql, property) = single(path, className) {
            guard comparison.quantifier == nil else { return nil }
            return test(sql, comparison.operation, value, property.kind)
        }
        // A list of the row: its number of elements, or a condition on them.
        guard case .property(let name)? = path.steps.first, let list = world.schema.classes[className]?[name],
            list.collection == .list || list.collection == .set
        else { return nil }
        let elements = "FROM \(className)_\(name) e WHERE e.k = t.k"
        if path.steps.count == 2, path.steps[1] == .count {
            return test("(SELECT COUNT(*) \(elements))", comparison.operation, value, .int)
        }
        guard path.steps.count == 1, let quantifier = comparison.quantifier,
            let each = test("e.v", comparison.operation, value, list.kind)
        else { return nil }
        switch quantifier {
        case .any: return "EXISTS (SELECT 1 \(elements) AND (\(each)))"
        case .all: return "NOT EXISTS (SELECT 1 \(elements) AND NOT (\(each)))"
        case .none: return "NOT EXISTS (SELECT 1 \(elements) AND (\(each)))"
        }
    }

    private func test(
        _ left: String,
        _ operation: ComparisonOperator,
        _ value: PredicateValue,
        _ kind: PropertyKind
    ) -> String? {
        if case .list(let values) = value {
            let literals = values.map { Self.literal($0, as: kind) }
            if operation == .between || operation == .within {
                let end = operation == .within ? "<" : "<="
                return "COALESCE(\(left) >= \(literals[0]) AND \(left) \(end) \(literals[1]), 0)"
            }
            return literals.isEmpty ? "0" : literals.map { "\(left) IS \($0)" }.joined(separator: " OR ")
        }
        return test(left, operation, Self.literal(value, as: kind))
    }

    private func test(_ left: String, _ operation: ComparisonOperator, _ right: String) -> String? {
        let (bytes, part) = ("CAST(\(left) AS BLOB)", "CAST(\(right) AS BLOB)")
        /// Every value but null holds the empty one; SQLite has no answer for some empty blobs.
        func found(_ condition: String) -> String {
            "\(left) IS NOT NULL AND \(right) IS NOT NULL AND (length(\(part)) = 0 OR COALESCE(\(condition), 0))"
        }
        switch operation {
        case .equal: return "\(left) IS \(right)"
        case .notEqual: return "\(left) IS NOT \(right)"
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            return "COALESCE(\(left) \(operation.spelling) \(right), 0)"
        case .contains: return found("instr(\(bytes), \(part)) > 0")
        case .beginsWith: return found("substr(\(bytes), 1, length(\(part))) = \(part)")
        case .endsWith:
            return found(
                "length(\(bytes)) >= length(\(part)) AND "
                    + "substr(\(bytes), length(\(bytes)) - length(\(part)) + 1) = \(part)"
            )
        case .between, .within, .in, .like: return nil
        }
    }

    private static func literal(_ value: PredicateValue, as kind: PropertyKind) -> String {
        switch value {
        case .null, .list, .decimal: return "NULL"
        case .bool(let value): return value ? "1" : "0"
        case .int(let value): return kind == .float ? literal(.double(Double(Float(value)))) : literal(.int(value))
        case .float(let value): return literal(.float(value))
        // A constant takes the type of a float property.
        case .double(let value): return literal(.double(kind == .float ? Double(Float(value)) : value))
        case .string(let value): return literal(.string(value))
        case .data(let value): return literal(.data(value))
        case .date(let value): return literal(.date(value))
        case .objectId(let value): return literal(.objectId(value))
        case .uuid(let value): return literal(.uuid(value))
        case .object(_, let key): return "\(key)"
        }
    }

    private static func literal(_ value: StoredValue) -> String {
        switch value {
        case .null, .decimal, .anyLink, .list, .dictionary: return "NULL"
        case .int(.min): return "(-9223372036854775807 - 1)"
        case .int(let value), .link(let value): return "\(value)"
        case .bool(let value): return value ? "1" : "0"
        case .float(let value): return literal(.double(Double(value)))
        case .double(let value), .date(let value):
            return value.isNaN ? "NULL" : value.isInfinite ? (value < 0 ? "-9e999" : "9e999") : "\(value)"
        case .string(let value): return "CAST(X'\(hexadecimal(Array(value.utf8)))' AS TEXT)"
        case .data(let value): return "X'\(hexadecimal(value))'"
        case .objectId(let value): return "X'\(String(value.high, radix: 16))\(String(value.low, radix: 16))'".padded
        case .uuid(let value): return "X'\(String(value.high, radix: 16))\(String(value.low, radix: 16))'".padded
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension String {
    /// A blob literal with an even number of digits.
    fileprivate var padded: String { utf8.count.isMultiple(of: 2) ? "X'0" + dropFirst(2) : self }
}
