/// What changed between two versions, per table.
package struct ChangeSet: Sendable, Equatable {
    package var tables: [UInt32: TableChanges] = [:]

    package init() {}
}

/// What changed in one table between two versions: net, ascending, and disjoint.
package struct TableChanges: Sendable, Equatable {
    package struct Modification: Sendable, Equatable {
        package var key: Int64
        package var columns: ColumnSet

        package init(key: Int64, columns: ColumnSet) {
            self.key = key
            self.columns = columns
        }
    }

    package var inserted = RowKeys()
    package var deleted = RowKeys()
    package var modified: [Modification] = []

    package init() {}

    package var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && modified.isEmpty }
}
