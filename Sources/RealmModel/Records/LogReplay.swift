package import RealmStorage

/// Applying what a log holds behind a checkpoint, when a file is opened that nobody has open.
package enum LogReplay {
    /// Applies records in their order, all inside one transaction, and prepares its commit.
    ///
    /// Unique values are looked at when all records have been applied. The caller rolls back after an error.
    ///
    /// - Parameters:
    ///   - records: The records, as a log holds them.
    ///   - transaction: The transaction, begun on the checkpoint's version to apply records (``WriteTransaction/recording``).
    /// - Returns: The commit that all of them make.
    /// - Throws: `StorageError` with the code `corrupt` when a record was not made on top of what stands there.
    package static func apply(
        _ records: [CommitRecord],
        in transaction: WriteTransaction
    ) throws -> PreparedCommit {
        var course = Course(in: transaction)
        for record in records { try course.apply(record) }
        guard let model = course.model else { return try transaction.prepareCommit() }
        try model.requireUniqueness()
        let prepared = try model.prepareCommit()
        try model.endTransaction()
        return prepared
    }

    /// Records that are applied one after the other in a transaction.
    struct Course {
        private let transaction: WriteTransaction
        /// What the records change; nil where none has changed any row since the last one that changed the schema.
        private(set) var model: ModelView?
        private var generation: UInt64

        /// - Parameter transaction: The transaction, begun to apply records (``WriteTransaction/recording``).
        init(in transaction: WriteTransaction) {
            self.transaction = transaction
            generation = transaction.schemaGeneration
        }

        /// Applies the next record; behind an error a part of it may be there.
        mutating func apply(_ record: CommitRecord) throws {
            let heading: RecordHeading
            switch record.kind {
            case .changes:
                let view = try model ?? ModelView(transaction: transaction)
                model = view
                heading = try record.content.withUnsafeBytes { try view.replayChanges($0) }
            case .schema:
                // It goes by the catalog, and is checked as a whole.
                try model?.requireUniqueness()
                try model?.sealTables()
                model = nil
                heading = try record.content.withUnsafeBytes { try SchemaRecord.replay($0, in: transaction) }
                generation += 1
            case .pages:
                throw RecordReader.damaged("it is of a version that is kept as pages, and stands behind that version.")
            case .durable: throw RecordReader.damaged("it is of no version, and stands among those that are.")
            }
            guard heading.schemaGeneration == generation else {
                throw RecordReader.damaged("it was made on top of another schema.")
            }
            LoggedCommit(of: transaction).noteReplayed(heading.time)
        }
    }
}

extension ModelView {
    /// Throws when two rows have the same unique value.
    fileprivate func requireUniqueness() throws {
        do {
            try checkUniqueness()
        } catch is ModelError {
            throw RecordReader.damaged("two rows have the same unique value.")
        }
    }
}
