import RealmModel
import RealmQuery

/// What a collection holds and in which order, without a realm: it can be evaluated at any version.
struct CollectionDescriptor: Sendable, Equatable {
    /// Where the elements come from.
    enum Source: Sendable, Equatable {
        /// Every object of the class.
        case table
        /// A list, set or dictionary property of an object.
        case list(ownerClass: String, ownerKey: Int64, property: String)
        /// A list or dictionary in a value of any kind; `isMap` tells them apart. Behind a reference: each observer has some of these.
        indirect case nested(ownerClass: String, ownerKey: Int64, property: String, path: [NestedStep], isMap: Bool)
        /// The objects whose property links to an object of `targetClass`.
        case backlinks(targetClass: String, targetKey: Int64, property: String)

        /// The class of the object that it belongs to, if any, as one that a realm has to declare.
        var requiredClasses: [String] {
            switch self {
            case .table: []
            case .list(let owner, _, _), .nested(let owner, _, _, _, _), .backlinks(let owner, _, _): [owner]
            }
        }
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
    /// Whether it stands for an empty collection where its owner does not exist, or a property that it asks for, and not for none.
    var outlivesOwner = false

    /// A collection of objects of a class as the query layer describes it.
    func observedQuery(of className: String) -> ObservedQuery {
        let source: ObservedQuery.Source =
            switch self.source {
            case .table, .nested: .table
            case .list(let ownerClass, let ownerKey, let property):
                .list(ownerClass: ownerClass, ownerKey: ownerKey, property: property)
            case .backlinks(let targetClass, let targetKey, let property):
                .backlinks(targetClass: targetClass, targetKey: targetKey, property: property)
            }
        let steps = steps.map { step -> ObservedQuery.Step in
            switch step {
            case .sort(let descriptors): .sort(SortOrder(descriptors.map { ($0.keyPath, $0.ascending) }))
            case .distinct(let keyPaths): .distinct(keyPaths.map { PropertyPath($0) })
            case .limit(let count, let offset): .limit(count, offset: offset)
            case .filter(let predicate): .filter(predicate)
            }
        }
        return ObservedQuery(className: className, source: source, predicate: predicate, steps: steps)
    }

    /// The classes that a realm has to declare so that the collection is found in it.
    var requiredClasses: [String] {
        if isDynamic { return [] }
        switch source {
        case .list, .nested: return source.requiredClasses
        case .table, .backlinks: return source.requiredClasses + (className.map { [$0] } ?? [])
        }
    }

    /// Whether a step limits the number of elements.
    var isLimited: Bool { steps.contains { if case .limit = $0 { true } else { false } } }

    /// Whether a step leaves elements out.
    var isNarrowed: Bool { steps.contains { if case .sort = $0 { false } else { true } } }
}
