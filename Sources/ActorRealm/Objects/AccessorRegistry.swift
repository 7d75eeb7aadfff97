import RealmModel
import RealmStorage
import Synchronization

/// The table accessors of one realm, made when they are first asked for.
final class AccessorRegistry {
    private unowned(unsafe) let core: RealmCore
    /// The classes of the realm's configuration.
    let schema: ModelSchema
    /// Whether nobody writes through the accessors.
    let isReadOnly: Bool
    /// Counts the writes made through the objects of this realm: collections compare it to know that they are stale.
    let writeCount: UnsafeMutablePointer<UInt64>
    /// The first failure of the storage in the open write transaction: its commit throws it, because the setters that met
    /// it cannot.
    var writeFailure: (any Error)?
    /// How many schemas the realm has seen, each of which may give the properties other places.
    private var schemaCount: UInt64 = 0
    private var byType: [ObjectIdentifier: TableAccessor] = [:]
    /// The accessor that was asked for last, with its class; none for frozen realms, which several threads may ask.
    @exclusivity(unchecked) private var last: (type: ObjectIdentifier, accessor: Unmanaged<TableAccessor>)?
    /// Guards the accessors of a frozen realm, which several threads may ask for.
    private let lock = Mutex(())

    private var dynamicByName: [String: TableAccessor] = [:]

    /// - Parameters:
    ///   - core: The realm.
    ///   - schema: The model classes; nil for those of the realm's configuration.
    init(core: RealmCore, schema: ModelSchema? = nil) {
        self.core = core
        isReadOnly = core.configuration.readOnly
        self.schema = schema ?? attempt { try ModelSchema.cached(objectTypes: core.configuration.objectTypes) }
        writeCount = .allocate(capacity: 1)
        writeCount.initialize(to: 0)
    }

    deinit { writeCount.deallocate() }

    /// As ``accessor(for:)``, where a class that cannot be read is an error.
    func readableAccessor(for type: ObjectBase.Type) throws(StorageError) -> TableAccessor? {
        if core.isFrozen { return try lock.withLock { (_) throws(StorageError) in Unchecked(try find(type)) }.value }
        return try find(type)
    }

    func accessor(for type: ObjectBase.Type) -> TableAccessor? {
        heldAccessor(for: type)?.takeUnretainedValue()
    }

    /// The same, not counted: no accessor goes before the registry does.
    @inline(__always)
    func heldAccessor(for type: ObjectBase.Type) -> Unmanaged<TableAccessor>? {
        if let last, last.type == ObjectIdentifier(type) { return last.accessor }
        return findHeldAccessor(for: type)
    }

    @inline(never)
    private func findHeldAccessor(for type: ObjectBase.Type) -> Unmanaged<TableAccessor>? {
        if core.isFrozen {
            return attempt { try readableAccessor(for: type) }.map { Unmanaged.passUnretained($0) }
        }
        guard let found = attempt({ try find(type) }).map({ Unmanaged.passUnretained($0) }) else { return nil }
        last = (ObjectIdentifier(type), found)
        return found
    }

    func accessor(className: String) -> TableAccessor? {
        schema[programName(of: className)].flatMap { accessor(for: $0.type) }
    }

    /// The accessor for dynamic objects of a class of the program or of the file; nil when the file has no such class.
    func dynamicAccessor(className: String) -> TableAccessor? {
        core.attempt(or: nil) { try readableDynamicAccessor(className: className) }
    }

    /// As ``dynamicAccessor(className:)``, where a class that cannot be read is an error.
    func readableDynamicAccessor(className: String) throws(StorageError) -> TableAccessor? {
        if core.isFrozen {
            return try lock.withLock { (_) throws(StorageError) in Unchecked(try findDynamic(className)) }.value
        }
        return try findDynamic(className)
    }

    private func findDynamic(_ className: String) throws(StorageError) -> TableAccessor? {
        if let known = dynamicByName[className] { return known }
        // A class has one accessor, and one of each property, by whichever of its names it is asked for.
        let name = core.model.schema.name(of: className)
        if name != className { return try findDynamic(name) }
        guard let table = try core.model.table(named: className) else { return nil }
        let declared = schema[programName(of: className)]
        let info = declared.map { ModelClass(dynamic: $0) } ?? ModelClass(dynamic: table.schema)
        let accessor = TableAccessor(core: core, table: table, info: info, stamp: schemaCount)
        dynamicByName[className] = accessor
        return accessor
    }

    /// What the program calls a class that is given by its name in the file, or by the one that another program uses.
    func programName(of className: String) -> String { programName(of: className, in: schema) }

    /// The same in classes of the program which need not be the realm's.
    func programName(of className: String, in schema: ModelSchema) -> String {
        if schema[className] != nil { return className }
        guard let stored = core.model.schema[className], let other = stored.storedName else { return className }
        return schema[stored.name] != nil ? stored.name : schema[other] != nil ? other : className
    }

    /// The classes that must stay in the file as they are declared: those of the configuration, and whatever else was asked for.
    var mappedClasses: [ClassSchema] {
        let others = byType.values.filter { !schema.contains($0.type) }
        let dynamic = dynamicByName.values.filter { schema[$0.info.name] == nil }
        return schema.classes.map(\.schema) + others.map(\.info.schema) + dynamic.map(\.info.schema)
    }

    /// Follows a change of the schema.
    func schemaDidChange() {
        schemaCount += 1
        for accessor in byType.values { accessor.readOrdinals(stamp: schemaCount) }
        for accessor in dynamicByName.values { accessor.readOrdinals(stamp: schemaCount) }
    }

    private func find(_ type: ObjectBase.Type) throws(StorageError) -> TableAccessor? {
        if let known = byType[ObjectIdentifier(type)] { return known }
        let info = ModelClass.of(type)
        if let other = schema[info.name], other.type != type { return nil }
        guard let table = try core.model.table(named: info.name) else { return nil }
        let accessor = TableAccessor(core: core, table: table, info: info, stamp: schemaCount)
        byType[ObjectIdentifier(type)] = accessor
        return accessor
    }

    // Takes an accessor of a frozen core, which several threads may read, out of the lock.
    private struct Unchecked: @unchecked Sendable {
        let value: TableAccessor?
        init(_ value: TableAccessor?) { self.value = value }
    }
}

extension RealmCore {
    /// The accessors of the tables.
    ///
    /// A frozen core makes its registry when it is made, others when first asked.
    var registry: AccessorRegistry {
        if let known = accessorStorage { return unsafeDowncast(known, to: AccessorRegistry.self) }
        let registry = AccessorRegistry(core: self)
        accessorStorage = registry
        return registry
    }

    /// The accessors of the tables, not counted: who holds the core holds them.
    @inline(__always)
    private var heldRegistry: Unmanaged<AccessorRegistry> {
        guard let known = accessorStorage else { return Unmanaged.passUnretained(registry) }
        return Unmanaged.passUnretained(unsafeDowncast(known, to: AccessorRegistry.self))
    }

    /// The accessor of a class that must be in the schema, not counted: who holds the core holds it.
    @inline(__always)
    func heldAccessor(for type: ObjectBase.Type) -> Unmanaged<TableAccessor> {
        if let accessor = heldRegistry._withUnsafeGuaranteedRef({ $0.heldAccessor(for: type) }) { return accessor }
        unknownClass(type.className())
    }

    /// Tells the realm's collections that something was written.
    func noteWrite() { registry.writeCount.pointee &+= 1 }

    /// Writes to the model; a failure of the storage waits for the commit, which throws it.
    @inline(__always)
    func attemptWrite(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            writeFailed(error)
        }
    }

    @inline(never)
    func writeFailed(_ error: any Error) {
        // The rows are gone with the transaction.
        if isClosed { return }
        var failure = cause(of: error)
        if let migration {
            failure = migration.publicError(failure)
        } else if let error = failure as? ModelError, case .deletionDenied = error {
            failure = self.error(.deletionDenied, error.description)
        } else if !(failure is StorageError) {
            trap(failure)
        }
        if registry.writeFailure == nil { registry.writeFailure = failure }
    }

    /// What a failure comes from: a row that is not there and that an index or a link names is damage.
    func cause(of error: any Error) -> any Error {
        guard case .noSuchRow(let className, let key)? = error as? ModelError,
            let table = try? model.table(named: className)
        else { return error }
        return table.damage(ofMissing: key) ?? error
    }

    /// Makes the commit of the open transaction throw an error, unless it throws another one already.
    func refuseCommit(because error: any Error) {
        if registry.writeFailure == nil { registry.writeFailure = error }
    }

    /// Whether a write in the open transaction failed.
    var hasWriteFailure: Bool { knownRegistry?.writeFailure != nil }

    /// Takes the failure of a write in the open transaction, which its commit does not throw then.
    func takeWriteFailure() -> (any Error)? {
        guard let registry = knownRegistry, let failure = registry.writeFailure else { return nil }
        registry.writeFailure = nil
        return failure
    }

    /// The accessors of the tables, if any was asked for; a cast that is checked would cost more than what asks for it.
    private var knownRegistry: AccessorRegistry? {
        accessorStorage.map { unsafeDowncast($0, to: AccessorRegistry.self) }
    }

    /// Throws, and forgets, the failure of a write in the transaction that is about to be committed; throws when objects
    /// have the same value of a unique property.
    func throwWriteFailure() throws {
        if let failure = takeWriteFailure() { throw failure }
        try checkUniqueness()
    }

    /// Throws what the commit of the open transaction would throw as things stand, and forgets nothing.
    func checkCommit() throws {
        try checkWriteFailure()
        try model.checkCommit()
        try checkUniqueness()
    }

    private func checkUniqueness() throws {
        do {
            try model.checkUniqueness()
        } catch let error as ModelError {
            throw self.error(error)
        }
    }

    /// Throws the failure of a write in the open transaction.
    func checkWriteFailure() throws {
        if let failure = knownRegistry?.writeFailure { throw failure }
    }

    /// Forgets the failures of a transaction that was rolled back.
    func forgetWriteFailure() { knownRegistry?.writeFailure = nil }

    /// Where objects of a class are read and made; nil when the realm's schema does not have it.
    func accessor(for type: ObjectBase.Type) -> TableAccessor? { registry.accessor(for: type) }

    /// Where objects of a class are read and made, for what throws.
    func readableAccessor(for type: ObjectBase.Type) throws(Realm.Error) -> TableAccessor {
        let found: TableAccessor?
        do throws(StorageError) {
            found = try registry.readableAccessor(for: type)
        } catch {
            throw Realm.Error(storage: error, path: coordinator.path)
        }
        guard let found else { throw error(.invalidInput, unknownClassMessage(type.className())) }
        return found
    }

    /// Throws where a class, or one that links lead to from it, cannot be read.
    func requireReadable(_ accessor: TableAccessor) throws(StorageError) {
        if accessor.hasReadableTargets { return }
        var seen: Set<ObjectIdentifier> = []
        var waiting = [accessor]
        while let next = waiting.popLast() {
            guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
            for property in next.info.properties {
                if let target = try next.readableTarget(of: property) { waiting.append(target) }
            }
        }
        // Several threads may ask a frozen realm.
        if !isFrozen { accessor.hasReadableTargets = true }
    }

    /// Where objects of a class are read and made; nil when the realm's schema does not have it.
    func accessor(className: String) -> TableAccessor? { registry.accessor(className: className) }

    /// Where objects of a class are read and made, as the program's class or as dynamic objects.
    func accessor(className: String, isDynamic: Bool) -> TableAccessor? {
        isDynamic ? registry.dynamicAccessor(className: className) : registry.accessor(className: className)
    }

    /// The dynamic accessor of a class that must be in the schema or in the file.
    func requiredDynamicAccessor(className: String) -> TableAccessor {
        checkAccess()
        guard let accessor = registry.dynamicAccessor(className: className) else { unknownClass(className) }
        return accessor
    }

    /// Traps for a class that the realm does not have.
    func unknownClass(_ className: String) -> Never { misuse(unknownClassMessage(className)) }

    /// Says that the realm does not have a class.
    func unknownClassMessage(_ className: String) -> String {
        "Object type '\(className)' is not managed by the Realm. If using a custom `objectTypes` array, add "
            + "`\(className)` to it."
    }

    /// The accessor of a class that must be in the schema.
    func requiredAccessor(for type: ObjectBase.Type) -> TableAccessor {
        guard let accessor = registry.accessor(for: type) else {
            unknownClass(type.className())
        }
        return accessor
    }
}
