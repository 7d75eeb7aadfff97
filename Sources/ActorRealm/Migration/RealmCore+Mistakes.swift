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
@inline(never)
func refuseIndex(_ index: Int, count: Int, in core: RealmCore?) {
    guard let core, core.migration != nil else { indexOutOfBounds(index, count: count) }
    core.mistake(outOfBoundsMessage(index, count: count))
}
