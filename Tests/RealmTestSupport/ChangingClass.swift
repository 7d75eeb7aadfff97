import RealmModel
import RealmStorage

/// A file with one class, which is brought from one form to another, so that its properties move.
package struct ChangingClass {
    private struct MissingClass: Error {}
    private struct MissingProperty: Error { let name: String }

    /// The name of the class.
    package static let name = "Thing"

    package let file: StorageFile

    /// Opens the file.
    package init(_ path: String) throws {
        var options = StorageOptions()
        options.durability = .none
        file = try StorageFile.open(path: path, options: options)
    }

    /// Brings the class into a form, and has it written to, in one commit; returns the version that it leaves.
    package func write(
        _ properties: [PropertySchema],
        version: UInt64 = 0,
        _ block: (TableView) throws -> Void
    ) throws -> ModelView {
        try commit { model in try block(change(model, to: properties, version: version)) }
    }

    /// Brings the class into one form and then into another, and has it written to between, in one commit as a migration does; returns
    /// the version that it leaves.
    ///
    /// The version of the schema rises with each form.
    package func migrate(
        through between: [PropertySchema],
        to properties: [PropertySchema],
        version: UInt64,
        _ block: (TableView) throws -> Void
    ) throws -> ModelView {
        try commit { model in
            try block(change(model, to: between, version: version))
            _ = try change(model, to: properties, version: version + 1)
        }
    }

    private func commit(_ body: (ModelView) throws -> Void) throws -> ModelView {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let model = try ModelView(snapshot: file.beginRead())
        try model.begin(file.beginWrite())
        try body(model)
        try file.publish([try model.prepareCommit()])
        try model.endTransaction()
        return try ModelView(snapshot: file.beginRead())
    }

    private func change(_ model: ModelView, to properties: [PropertySchema], version: UInt64) throws -> TableView {
        let declared = DatabaseSchema(
            classes: [ClassSchema(name: Self.name, properties: properties)],
            version: version
        )
        let plan = try SchemaReconciler.plan(stored: model.schema, declared: declared)
        if !plan.isEmpty { try model.changeSchema(plan) }
        guard let table = try model.table(named: Self.name) else { throw MissingClass() }
        return table
    }

    /// Inserts a row, writes one of its properties, and removes another one from the class, in a commit each.
    ///
    /// - Returns: The key of the row, the version before it was written to, and the one after the class has changed.
    package func remove(
        _ gone: String,
        from properties: [PropertySchema],
        writing name: String,
        _ value: StoredValue
    ) throws -> (key: Int64, before: ModelView, after: ModelView) {
        var key: Int64 = 0
        let before = try write(properties) { key = try $0.insert() }
        _ = try write(properties) { table in
            guard let ordinal = table.schema.ordinal(of: name) else { throw MissingProperty(name: name) }
            try table.set(ordinal, key: key, to: value)
        }
        let after = try write(properties.filter { $0.name != gone }, version: 1) { _ in }
        return (key, before, after)
    }
}
