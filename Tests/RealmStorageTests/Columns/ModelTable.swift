import RealmStorage
import RealmTestSupport
import Testing

/// A value of a table cell.
enum Cell: Hashable {
    case null
    case int(Int64)
    case float(UInt32)
    case double(UInt64)
    case fixed([UInt8])
    case bytes([UInt8])

    static func `default`(of layout: ColumnLayout) -> Cell {
        if layout.isNullable { return .null }
        return switch layout.kind {
        case .int: .int(0)
        case .float: .float(0)
        case .double: .double(0)
        case .fixed12: .fixed(Array(repeating: 0, count: 12))
        case .fixed16: .fixed(Array(repeating: 0, count: 16))
        case .bytes: .bytes([])
        }
    }

    /// A random value: of few magnitudes, so that every width and the absent form occur.
    static func random(of layout: ColumnLayout, longest: Int, using random: inout SplitMix64) -> Cell {
        if layout.isNullable, Int.random(in: 0..<5, using: &random) == 0 { return .null }
        switch layout.kind {
        case .int:
            let bits = [0, 3, 8, 15, 31, 62].randomElement(using: &random)!
            return .int(Int64.random(in: -(1 << bits)...(1 << bits), using: &random))
        case .float:
            return .float([Float(0), -0.0, 1.5, .nan, -7e9].randomElement(using: &random)!.bitPattern)
        case .double:
            let whole = Double(Int32.random(in: -100...100_000, using: &random))
            return .double([whole, whole, whole, -0.0, .pi, .nan, 1e300].randomElement(using: &random)!.bitPattern)
        case .fixed12, .fixed16:
            let count = layout.kind == .fixed12 ? 12 : 16
            return .fixed((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
        case .bytes:
            let count = [0, 5, 16, 40, longest].randomElement(using: &random)!
            let byte = UInt8.random(in: 0...255, using: &random)
            return .bytes((0..<Int.random(in: 0...count, using: &random)).map { byte &+ UInt8(truncatingIfNeeded: $0) })
        }
    }
}

extension ClusterWriter {
    func set(_ cell: Cell, key: Int64, column: Int) throws {
        switch cell {
        case .null: try setNull(key: key, column: column)
        case .int(let value): try setInt(value, key: key, column: column)
        case .float(let bits): try setFloat(Float(bitPattern: bits), key: key, column: column)
        case .double(let bits): try setDouble(Double(bitPattern: bits), key: key, column: column)
        case .fixed(let bytes): try bytes.withUnsafeBytes { try setFixed($0.baseAddress!, key: key, column: column) }
        case .bytes(let bytes): try bytes.withUnsafeBytes { try setBytes($0, key: key, column: column) }
        }
    }
}

extension ColumnView {
    func cell(_ row: Int, layout: ColumnLayout) throws -> Cell {
        if layout.isNullable, isNull(row) { return .null }
        return switch layout.kind {
        case .int: .int(int(row))
        case .float: .float(float(row).bitPattern)
        case .double: .double(double(row).bitPattern)
        case .fixed12: .fixed(Array(UnsafeRawBufferPointer(start: fixed(row), count: 12)))
        case .fixed16: .fixed(Array(UnsafeRawBufferPointer(start: fixed(row), count: 16)))
        case .bytes: .bytes(Array(try bytes(row)))
        }
    }
}

/// What a table should hold.
struct ModelTable {
    var columns: [ColumnLayout]
    var rows: [Int64: [Cell]] = [:]
    var nextKey: Int64 = 0

    /// Compares every row with what leaves show.
    func expectEqual(_ cursor: consuming LeafCursor, _ comment: Comment) throws {
        var cursor = cursor
        let keys = rows.keys.sorted()
        var index = 0
        while let leaf = try cursor.next() {
            #expect(leaf.rowCount > 0 && leaf.rowCount <= ClusterFormat.rowLimit)
            #expect(leaf.lastKey == leaf.key(at: leaf.rowCount - 1), comment)
            let views = try columns.indices.map { try leaf.column($0, isNullable: columns[$0].isNullable) }
            for row in 0..<leaf.rowCount {
                let key = leaf.key(at: row)
                guard index < keys.count, key == keys[index] else {
                    Issue.record(
                        "row \(index) has key \(key) instead of \(index < keys.count ? keys[index] : -1): \(comment)"
                    )
                    return
                }
                let cells = try columns.indices.map { try views[$0].cell(row, layout: columns[$0]) }
                if cells != rows[key] {
                    Issue.record("row \(key) is \(cells) instead of \(rows[key]!): \(comment)")
                    return
                }
                index += 1
            }
        }
        #expect(index == keys.count, comment)
    }

    /// Looks up some keys and positions.
    func expectFinds(
        _ comment: Comment,
        random: inout SplitMix64,
        leaf: (Int64) throws -> RowLocation?,
        position: (Int) throws -> RowLocation?,
        index: (Int64) throws -> Int?
    ) throws {
        let keys = rows.keys.sorted()
        for _ in 0..<20 {
            let key = Int64.random(in: -1...nextKey, using: &random)
            let found = try leaf(key)
            #expect((found != nil) == (rows[key] != nil), comment)
            if let found { #expect(found.leaf.key(at: found.row) == key, comment) }
            #expect(try index(key) == keys.firstIndex(of: key), comment)
            let place = Int.random(in: 0...keys.count, using: &random)
            let located = try position(place)
            #expect(located.map { $0.leaf.key(at: $0.row) } == (place < keys.count ? keys[place] : nil), comment)
        }
        #expect(try position(-1) == nil, comment)
    }
}
