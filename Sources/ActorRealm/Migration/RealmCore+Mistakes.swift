import RealmModel

/// What a program does wrong with objects and collections: outside a migration that ends the process; inside one it is kept, the call
/// does nothing, and opening the realm throws it.
extension RealmCore {
    /// Ends the process, or keeps the mistake of a migration.
    func mistake(_ message: @autoclosure () -> String, _ className: String? = nil, _ propertyName: String? = nil) {
        guard let migration else { misuse(message()) }
        migration.refuse(message(), className, propertyName)
    }

    /// Runs an operation of the layers below from API that cannot throw; inside a migration a failure is kept, and the result is another.
    @inline(__always)
    func attempt<Result>(or other: @autoclosure () -> Result, _ body: () throws -> Result) -> Result {
        do {
            return try body()
        } catch {
            keep(error)
            return other()
        }
    }

    /// Ends the process for a failure, or keeps that of a migration.
    @inline(never)
    func keep(_ error: any Error) {
        guard let migration else { trap(error) }
        migration.fail(migration.publicError(error))
    }
}

/// Ends the process for a position that does not exist, or keeps the mistake of a migration.
///
/// In a realm that was closed it does nothing: every position was lost with it, and what is read there is nothing.
@inline(never)
func refuseIndex(_ index: Int, count: Int, in place: ListPlace?) {
    if let place, place.core.isClosed { return }
    guard let place, place.core.migration != nil else { indexOutOfBounds(index, count: count) }
    place.mistake(outOfBoundsMessage(index, count: count))
}

extension ListPlace {
    /// Ends the process for a mistake with the collection, or keeps that of a migration.
    final func mistake(_ message: @autoclosure () -> String) {
        core.mistake(message(), accessor.info.name, accessor.info.properties[declared].name)
    }
}

extension _CollectionBacking {
    /// Ends the process for a position that does not exist, or keeps the mistake of a migration; in a realm that was closed it does nothing.
    @inline(never)
    func refuseIndex(_ index: Int, count: Int) {
        if core.isClosed { return }
        guard core.migration != nil else { indexOutOfBounds(index, count: count) }
        let (className, propertyName) = subject
        core.mistake(outOfBoundsMessage(index, count: count), className, propertyName)
    }

    /// What the collection is, for messages: a property and its class, or else the class of the elements.
    var subject: (className: String?, propertyName: String?) {
        switch source {
        case .table, .backlinks: return (elements?.info.name, nil)
        case .list(let owner, _, let property), .nested(let owner, _, let property, _, _):
            let name = owner.table.schema.properties[property].name
            return (owner.info.name, owner.info.property(columnNamed: name)?.name ?? name)
        }
    }
}
