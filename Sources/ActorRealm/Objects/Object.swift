/// The base class of models that stand on their own.
///
/// ```swift
/// class Person: Object {
///     @Persisted(primaryKey: true) var id: ObjectId
///     @Persisted var name = ""
///     @Persisted var dogs: List<Dog>
/// }
/// ```
nonisolated open class Object: ObjectBase {
    /// Creates an unmanaged instance with every property at its default.
    public required init() { super.init() }

    /// Creates an unmanaged instance from another object, a dictionary by property name or an array in property order.
    ///
    /// - Precondition: There are such properties, and the values fit: for names and values from outside
    ///   ``Realm/insert(_:value:ignoringUnknownKeys:)`` throws instead.
    public convenience init(value: Any) {
        self.init()
        ValueReader.assign(value, to: self)
    }

    /// The name of the primary key property of classes that do not mark one with `@Persisted(primaryKey:)`.
    open class func primaryKey() -> String? { nil }

    /// The indexes over several properties, in addition to those of single ones.
    open class func compoundIndexes() -> [CompoundIndex] { [] }
}
