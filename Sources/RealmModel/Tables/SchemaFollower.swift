package import RealmStorage

/// Who maps the names of a program's classes and properties to what a model view stores.
package protocol SchemaFollower: AnyObject {
    /// Called before the view moves to a version, or begins a transaction, with another schema; nothing has changed yet.
    ///
    /// - Throws: `schemaOutdated` when the program's classes do not fit it; then the view stays where it is.
    func checkSchema(_ next: DatabaseSchema, after current: DatabaseSchema) throws(StorageError)

    /// Called when the view has moved to another schema, or back: the ordinals of properties may be others.
    func schemaDidChange()
}
