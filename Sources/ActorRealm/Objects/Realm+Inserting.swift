public import Foundation
import RealmModel
import RealmStorage

/// Adding what may not fit: everything here throws where `add` and `create` end the process.
extension Realm {
    /// Adds an unmanaged object like ``add(_:update:)``, and throws what that would trap on.
    ///
    /// When it throws, nothing has changed: the object, and those that it links to, are unmanaged as before.
    ///
    /// - Throws: `Realm.Error` with the code `.duplicatePrimaryKey` or `.duplicateValue` when an object with its primary key,
    ///   or with the values of its unique properties, exists; `.limitExceeded` for a key that is too long; `.invalidInput` for
    ///   what cannot be stored, and outside a write transaction.
    public func insert(_ object: Object) throws {
        let accessor = try core.insertionAccessor(for: type(of: object))
        if let other = object.core {
            if other === core, !object.isInvalidated { return }
            throw core.error(
                .invalidInput,
                other === core || other.isInvalidated
                    ? "Adding a deleted or invalidated object to a Realm is not permitted."
                    : other.isFrozen
                        ? "Cannot add a frozen object to a Realm. Use `create` to copy it."
                        : "Object is already managed by another Realm. Use create instead to copy it into this Realm."
            )
        }
        let context = AddContext(core: core, policy: .error, undoes: true)
        try insertion { try context.undoing { try context.add(object, accessor) } }
    }

    /// Creates an object like ``create(_:value:update:)``, and throws what that would trap on.
    ///
    /// It is meant for input from outside: nothing in it ends the process.
    ///
    /// ```swift
    /// try realm.write { try realm.insert(Person.self, value: ["name": "Ada", "age": 36]) }
    /// ```
    ///
    /// When it throws, nothing has changed. Objects may nest 100 levels deep.
    ///
    /// - Parameters:
    ///   - type: The class.
    ///   - value: A dictionary by property name, an array in property order, or another object, whose values are copied.
    ///   - ignoringUnknownKeys: Whether keys that name no property are left out; they are errors otherwise.
    /// - Returns: The object.
    /// - Throws: `Realm.Error` with the code `.invalidInput` that names all values that do not fit; `.duplicatePrimaryKey` or
    ///   `.duplicateValue` when an object with its primary key, or with the values of its unique properties, exists;
    ///   `.limitExceeded` for what is too large.
    @discardableResult
    public func insert<T: Object>(
        _ type: T.Type,
        value: Any = [:],
        ignoringUnknownKeys: Bool = false
    ) throws -> T {
        let accessor = try core.insertionAccessor(for: type)
        var check = InputCheck(core: core, ignoresUnknownKeys: ignoringUnknownKeys)
        check.check(value, for: accessor.info)
        return try insert(value, after: check, accessor)
    }

    /// Creates an object from what a decoder gives, as ``insert(_:value:ignoringUnknownKeys:)`` does.
    ///
    /// Keys are property names. Dates, data and other values are decoded as the decoder does it.
    /// A number with digits behind its point is no integer, and one that a decimal has no room for is refused, as far as the decoder tells:
    /// Foundation's decoder of JSON has 38 digits of a number.
    @discardableResult
    public func insert<T: Object>(
        _ type: T.Type,
        from decoder: any Decoder,
        ignoringUnknownKeys: Bool = false
    ) throws -> T {
        let accessor = try core.insertionAccessor(for: type)
        var check = InputCheck(core: core, ignoresUnknownKeys: ignoringUnknownKeys)
        let value = InputReader.value(for: accessor.info, from: decoder)
        check.check(value, for: accessor.info)
        return try insert(value, after: check, accessor)
    }

    /// Creates an object from JSON, as ``insert(_:value:ignoringUnknownKeys:)`` does.
    ///
    /// Dates are texts in the form of ISO 8601, data is in Base64, and identifiers are texts. To read them otherwise, decode
    /// with a decoder of your own and ``insert(_:from:ignoringUnknownKeys:)``.
    /// Numbers are read by their text: an integer has no digits behind its point, and a decimal keeps its own.
    @discardableResult
    public func insert<T: Object>(
        _ type: T.Type,
        json: Data,
        ignoringUnknownKeys: Bool = false
    ) throws -> T {
        let accessor = try core.insertionAccessor(for: type)
        let value = try InputReader.value(for: accessor.info, json: json) { core.error(.invalidInput, $0) }
        var check = InputCheck(core: core, ignoresUnknownKeys: ignoringUnknownKeys)
        check.check(value, for: accessor.info)
        return try insert(value, after: check, accessor)
    }

    /// Creates an object of a class that is given by its name like ``dynamicCreate(_:value:update:)``, and throws what that would
    /// trap on: also a name that no class has.
    ///
    /// It is meant for names and values from outside, as ``insert(_:value:ignoringUnknownKeys:)`` is for a class of the program, and
    /// takes and throws what that does.
    ///
    /// ```swift
    /// try realm.write { try realm.dynamicInsert("Person", value: ["name": "Ada", "age": 36]) }
    /// ```
    @discardableResult
    public func dynamicInsert(
        _ typeName: String,
        value: Any = [:],
        ignoringUnknownKeys: Bool = false
    ) throws -> DynamicObject {
        let (accessor, dynamic) = try core.insertionAccessors(className: typeName)
        var check = InputCheck(core: core, ignoresUnknownKeys: ignoringUnknownKeys)
        check.check(value, for: accessor.info)
        let key = try key(inserting: value, after: check, accessor)
        core.noteWrite()
        return unsafeDowncast(dynamic.makeObject(key: key), to: DynamicObject.self)
    }

    private func insert<T: Object>(_ value: Any, after check: InputCheck, _ accessor: TableAccessor) throws -> T {
        let key = try key(inserting: value, after: check, accessor)
        return unsafeDowncast(accessor.makeObject(key: key), to: T.self)
    }

    private func key(inserting value: Any, after check: InputCheck, _ accessor: TableAccessor) throws -> Int64 {
        try check.throwProblems(of: accessor.info)
        let context = CreateContext(core: core, policy: .error, undoes: true)
        return try insertion {
            try context.undoing {
                let key = try context.create(value, accessor)
                try context.drain()
                return key
            }
        }
    }

    private func insertion<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw core.insertionError(error) }
    }
}

extension RealmCore {
    /// The accessor of a class of which an object is to be inserted.
    ///
    /// - Throws: `Realm.Error` when nothing can be inserted here and now.
    fileprivate func insertionAccessor(for type: ObjectBase.Type) throws -> TableAccessor {
        try requireTransaction(for: "insert")
        let accessor = try readableAccessor(for: type)
        do throws(StorageError) {
            try requireReadable(accessor)
        } catch {
            throw Realm.Error(storage: error, path: coordinator.path)
        }
        return accessor
    }

    /// The same of a class that is given by its name: where objects are made, with the program's defaults where it has the class, and
    /// where they are read as dynamic ones.
    fileprivate func insertionAccessors(className: String) throws -> (made: TableAccessor, read: TableAccessor) {
        try requireTransaction(for: "dynamicInsert")
        let found: TableAccessor?
        do throws(StorageError) {
            found = try registry.readableDynamicAccessor(className: className)
            if let found { try requireReadable(found) }
        } catch {
            throw Realm.Error(storage: error, path: coordinator.path)
        }
        guard let found else { throw error(.invalidInput, unknownClassMessage(className)) }
        if found.info.isEmbedded { throw error(.invalidInput, Realm.embeddedMessage(found.info.name)) }
        let declared = registry.schema[registry.programName(of: className)]
        return (try declared.map { try readableAccessor(for: $0.type) } ?? found, found)
    }

    /// Throws unless objects can be written here and now.
    func requireTransaction(for operation: String) throws {
        try checkWritable()
        checkAccess()
        guard isInWriteTransaction, !isInLostTransaction else {
            throw error(
                .invalidInput,
                "Objects can only be inserted and changed in a write transaction: call `\(operation)` inside "
                    + "`try realm.write { }` or `try await realm.asyncWrite { }`."
            )
        }
    }

    /// Why an object could not be inserted or changed, in its public form.
    func insertionError(_ error: any Error) -> any Error {
        switch cause(of: error) {
        case let error as ModelError: self.error(error)
        case let cause: Realm.Error.wrap(cause, path: coordinator.path)
        }
    }

    /// What the model layer refused, in its public form.
    func error(_ error: ModelError) -> Realm.Error {
        Realm.Error(model: error, fileURL: configuration.fileURL)
    }
}
