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

    /// Ends the process when all elements of a list, or all links to an object, are none because that is gone, or keeps the mistake of a
    /// migration: whoever copies that would lose what there was in the other place.
    ///
    /// What a query selects is empty then, and so is all of a realm that was closed.
    func checkContents() {
        if outlivesOwner || refinement != nil { return }
        let owner: (accessor: TableAccessor, key: Int64)
        switch source {
        case .table: return
        case .list(let accessor, let key, _), .backlinks(let accessor, let key, _): owner = (accessor, key)
        case .nested(let accessor, let key, _, _, _): owner = (accessor, key)
        }
        core.checkAccess()
        if core.isClosed || !isOwnerDeleted { return }
        if !owner.accessor.mayHave(owner.key), let damage = owner.accessor.table.damage(ofMissing: owner.key) {
            return core.keep(damage)
        }
        let (className, propertyName) = subject
        core.mistake(
            "The collection is no longer valid: its object has been deleted or invalidated.",
            className,
            propertyName
        )
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
