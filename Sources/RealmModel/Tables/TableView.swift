import RealmStorage

/// The rows of one class, read at the version where its `ModelView` stands, and written while that is in a transaction.
///
/// Every operation takes property *ordinals* (see `ClassSchema`). A table view belongs to its model view, which must
/// outlive it, and follows it from version to version.
package final class TableView {
    /// The model view that this table belongs to.
    package unowned(unsafe) let model: ModelView
    /// The number under which the file knows the table.
    package let id: UInt32
    /// The class as the file stores it.
    package private(set) var schema: ClassSchema
    @usableFromInline var slots: UnsafeMutablePointer<PropertySlot>

    init(model: ModelView, schema: ClassSchema) {
        self.model = model
        id = schema.tableID
        self.schema = schema
        slots = .allocate(capacity: max(1, schema.properties.count))
    }

    /// The physical column of a property, for `LeafView.column(_:isNullable:)`; -1 for computed properties.
    @inlinable
    @inline(__always)
    package func column(_ property: Int) -> Int { Int(slots[property].column) }

    /// Whether a property's column is nullable, for `LeafView.column(_:isNullable:)`.
    @inlinable
    @inline(__always)
    package func isNullable(_ property: Int) -> Bool { slots[property].isNullable }

    /// The number of rows.
    package var count: Int { preconditionFailure("stub") }
}
