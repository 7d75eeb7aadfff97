/// How an open cluster will be laid out in pages.
struct ClusterPlan {
    enum Column {
        /// Nothing is stored; `word` is the descriptor's.
        case absent(word: UInt64)
        /// The column's own run in the base stays.
        case kept
        /// Inline data of the base, copied as it is.
        case copied(byteLength: Int)
        /// Encoded anew.
        case encoded(ColumnPlan)
        /// Copied from the base without the values of deleted rows.
        case filtered(FilteredColumn)

        /// The bytes to be written to the node or to a run.
        var byteLength: Int {
            switch self {
            case .absent, .kept: 0
            case .copied(let byteLength): byteLength
            case .encoded(let plan): plan.byteLength
            case .filtered(let column): column.plan.byteLength
            }
        }
    }

    /// A column of fewer bytes never gets a run of its own, which would be mostly empty.
    static let smallestRun = 1536

    var columns: [Column] = []
    /// Per column, whether it is written to a run of its own; empty where none is.
    private var external: [Bool] = []
    var keyWidth = 0
    var nodePageCount = 1
    /// Whether everything is in one node of moderate size, cheap to rewrite for every small commit.
    var isCompact = true

    /// Whether a column is written to a run of its own.
    func isExternal(_ index: Int) -> Bool { !external.isEmpty && external[index] }

    /// Plans for a cluster without deleted rows; `filtered` has by column what is to be copied from the base without
    /// them, and is empty for nothing.
    init(_ cluster: OpenCluster, filtered: [FilteredColumn?] = []) throws(StorageError) {
        let leaf = cluster.leaf
        let rows = cluster.rowCount
        columns.reserveCapacity(cluster.columnCount)
        if let keys = cluster.keys, keys[rows - 1] &- keys[0] != Int64(rows - 1) {
            switch UInt64(bitPattern: keys[rows - 1] &- keys[0]) {
            case ...0xFF: keyWidth = 1
            case ...0xFFFF: keyWidth = 2
            case ...0xFFFF_FFFF: keyWidth = 4
            default: keyWidth = 8
            }
        }
        var inline = Self.dataOffset(columnCount: cluster.columnCount) + Self.aligned(keyWidth * rows)
        let budget = Self.compactByteCount(columnCount: cluster.columnCount)
        for index in 0..<cluster.columnCount {
            let column: Column
            if index < filtered.count, let source = filtered[index] {
                inline += Self.aligned(source.plan.byteLength)
                columns.append(.filtered(source))
                continue
            }
            switch cluster.columns[index].state {
            case .absent:
                let word = cluster.descriptor(index).loadUnaligned(as: UInt64.self)
                column = .absent(word: word)
            case .stored where !cluster.columns[index].run.isNone:
                column = .kept
                isCompact = false
            case .stored:
                let shape = ColumnShape(descriptor: cluster.descriptor(index))
                column = .copied(byteLength: shape.byteLength)
            case .expanded:
                let plan = ColumnPlan(try leaf.column(index))
                column =
                    plan.isAbsent ? .absent(word: plan.word(location: ClusterFormat.locationAbsent)) : .encoded(plan)
            }
            inline += Self.aligned(column.byteLength)
            columns.append(column)
        }
        if inline > budget { moveOut(&inline, budget: budget) }
        nodePageCount = (inline + pageByteCount - 1) / pageByteCount
    }

    /// Gives the largest columns runs of their own until the rest fits.
    private mutating func moveOut(_ inline: inout Int, budget: Int) {
        isCompact = false
        external = Array(repeating: false, count: columns.count)
        let bySize = columns.indices.sorted { columns[$0].byteLength > columns[$1].byteLength }
        for index in bySize {
            guard inline > budget, columns[index].byteLength >= Self.smallestRun else { break }
            inline -= Self.aligned(columns[index].byteLength)
            external[index] = true
        }
    }

    static func aligned(_ count: Int) -> Int { (count + 7) & ~7 }

    static func dataOffset(columnCount: Int) -> Int {
        ClusterFormat.descriptorsOffset + (columnCount + 1) * ClusterFormat.descriptorByteCount
    }

    /// What a node may take: a page, or for wide tables as much data as descriptors.
    static func compactByteCount(columnCount: Int) -> Int {
        let wanted = max(pageByteCount, 2 * dataOffset(columnCount: columnCount))
        return (wanted + pageByteCount - 1) / pageByteCount * pageByteCount
    }
}

extension LeafView {
    /// Whether a sealed cluster is cheap to rewrite for one more row.
    func isCompact(pageCount: UInt32) -> Bool {
        guard Int(pageCount) * pageByteCount <= ClusterPlan.compactByteCount(columnCount: columnCount) else {
            return false
        }
        return (0..<columnCount).allSatisfy { externalReference($0) == nil }
    }

    /// The stored bytes of the leaf's bytes columns.
    var heapByteCount: Int {
        var total = 0
        for index in 0..<columnCount {
            let descriptor = base + (ClusterFormat.descriptorsOffset + (index + 1) * ClusterFormat.descriptorByteCount)
            let shape = ColumnShape(descriptor: descriptor)
            if shape.kind == .bytes { total += shape.byteLength }
        }
        return total
    }
}
