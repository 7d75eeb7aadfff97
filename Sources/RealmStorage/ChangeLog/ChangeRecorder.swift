/// Records what an open write transaction touches, for the change log.
package final class ChangeRecorder {
    package init() {}

    /// A row was created.
    package func recordInsert(table: UInt32, key: Int64) {
        preconditionFailure("stub")
    }

    /// A row was deleted.
    package func recordDelete(table: UInt32, key: Int64) {
        preconditionFailure("stub")
    }

    /// A property of a row was written, even with an equal value.
    package func recordModify(table: UInt32, key: Int64, column: Int) {
        preconditionFailure("stub")
    }

    /// What this transaction changed so far, in the shape observers get.
    package var changeSet: ChangeSet {
        preconditionFailure("stub")
    }
}
