/// What one or more committed writes did to a realm, as `Realm.changes` delivers it.
///
/// It carries keys, not objects, and is Sendable. Keys are those of ``ObjectReference``.
public struct RealmChange: Sendable, Equatable {
    /// What happened to the objects of one class; all keys ascend.
    public struct ClassChange: Sendable, Equatable {
        /// The keys of the objects created.
        public let inserted: [Int64]
        /// The keys of the objects deleted.
        public let deleted: [Int64]
        /// The keys of the objects of which a property was written.
        public let modified: [Int64]
    }

    /// The version of the file the changes lead to.
    public let version: UInt64
    /// The changes per class name, for the classes that have any.
    public let classes: [String: ClassChange]
    /// Whether more changed than is told: the observer fell so far behind that the changes since the element before are
    /// no longer known, as ``Realm/Configuration/maximumObserverLag`` says.
    ///
    /// Whoever keeps something in step with the realm reads it anew.
    public let isReset: Bool
    /// Whether the schema of the file was changed in what the program's classes declare: this is the last element, and tells no
    /// changes; see ``Realm/isOutdated``.
    public let isOutdated: Bool

    init(version: UInt64, classes: [String: ClassChange], isReset: Bool = false, isOutdated: Bool = false) {
        self.version = version
        self.classes = classes
        self.isReset = isReset
        self.isOutdated = isOutdated
    }
}
