import RealmModel
import RealmQuery

/// What a collection holds and in which order, without a realm: it can be evaluated at any version.
struct CollectionDescriptor: Sendable, Equatable {
    /// Where the elements come from.
    enum Source: Sendable, Equatable {
        /// Every object of the class.
        case table
        /// A list property of an object.
        case list(ownerClass: String, ownerKey: Int64, property: String)
        /// The objects whose property links to an object of `targetClass`.
        case backlinks(targetClass: String, targetKey: Int64, property: String)
    }

    /// A step after the filter, applied in order.
    enum Step: Sendable, Equatable {
        case sort([SortDescriptor])
        case distinct([String])
        /// So many elements behind as many that are left out.
        case limit(Int, offset: Int)
        /// A filter behind a limit, which narrows what the limit left.
        case filter(Predicate)
    }

    var source: Source
    /// The class of the elements; nil for collections of values.
    var className: String?
    /// Whether the objects are dynamic ones.
    var isDynamic = false
    /// The conditions, all of which hold; nil for none.
    var predicate: Predicate?
    var steps: [Step] = []

    /// Whether a step limits the number of elements.
    var isLimited: Bool { steps.contains { if case .limit = $0 { true } else { false } } }

    /// Whether a step leaves elements out.
    var isNarrowed: Bool { steps.contains { if case .sort = $0 { false } else { true } } }
}
