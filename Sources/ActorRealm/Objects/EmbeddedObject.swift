/// The base class of models that exist only as part of one owner, and are deleted with it.
nonisolated open class EmbeddedObject: ObjectBase {
    /// Creates an unmanaged instance with every property at its default.
    public required init() { super.init() }

    /// Creates an unmanaged instance from another object, a dictionary by property name or an array in property order.
    ///
    /// - Precondition: There are such properties, and the values fit: for names and values from outside
    ///   ``Realm/insert(_:value:ignoringUnknownKeys:)`` of the owner throws instead.
    public convenience init(value: Any) {
        self.init()
        ValueReader.assign(value, to: self)
    }

    override class var isEmbeddedClass: Bool { true }
}
