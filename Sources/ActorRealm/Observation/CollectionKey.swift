import RealmQuery

/// What tells observed collections apart: those that are the same share what is found out about them.
struct CollectionKey: Hashable, Sendable {
    let descriptor: CollectionDescriptor
    let keyPaths: [String]?
    /// The properties of which something is told; nil for all whose writes are modifications.
    let asked: [String]?
    /// Computed once, because predicates are large.
    private let fingerprint: Int

    init(_ descriptor: CollectionDescriptor, keyPaths: [String]?, asked: [String]? = nil) {
        self.descriptor = descriptor
        self.keyPaths = keyPaths
        self.asked = asked
        var hasher = Hasher()
        hasher.combine(descriptor.className)
        hasher.combine(descriptor.steps.count)
        hasher.combine(keyPaths)
        hasher.combine(asked)
        if let predicate = descriptor.predicate { hasher.combine("\(predicate)") }
        if case .list(_, let key, let property) = descriptor.source {
            hasher.combine(key)
            hasher.combine(property)
        }
        fingerprint = hasher.finalize()
    }

    func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }

    static func == (one: Self, other: Self) -> Bool {
        one.fingerprint == other.fingerprint && one.descriptor == other.descriptor && one.keyPaths == other.keyPaths
            && one.asked == other.asked
    }
}
