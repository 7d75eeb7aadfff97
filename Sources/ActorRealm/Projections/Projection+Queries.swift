import RealmQuery

extension Query where T: ProjectionObservable {
    /// A projected property.
    public subscript<Value>(dynamicMember member: KeyPath<T, Value>) -> Query<Value> {
        Query<Value>(.path(node.path.appending(Self.steps(member), isCollection: false)))
    }

    /// A projected collection of objects or values.
    public subscript<Value: RealmCollection>(dynamicMember member: KeyPath<T, Value>) -> Query<Value> {
        Query<Value>(.path(node.path.appending(Self.steps(member), isCollection: true)))
    }

    /// A projected collection of the values of a property.
    public subscript<Value: _ProjectedCollection>(
        dynamicMember member: KeyPath<T, Value>
    ) -> Query<List<Value.Element>> {
        let steps = Self.steps(member)
        // The last step is a property of the collection's elements.
        let collection = node.path.appending(Array(steps.dropLast()), isCollection: true)
        return Query<List<Value.Element>>(.path(collection.appending(Array(steps.suffix(1)), isCollection: false)))
    }

    private static func steps(_ member: AnyKeyPath) -> [PropertyPath.Step] {
        T._name(of: member).split(separator: ".").map { .property(String($0)) }
    }
}

extension RealmCollection where Element: ProjectionObservable {
    /// The projections for which a condition on their properties holds.
    ///
    /// - Precondition: The collection is managed, and what is compared can be: ``filter(_:)-(RealmPredicate)`` throws
    ///   instead.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
        let backing = managed("where")
        return Results(attempt { try backing.filtered(Query.predicate(isIncluded, in: backing.core)) })
    }

    /// The position of the first projection for which a condition on its properties holds.
    ///
    /// - Precondition: The collection is managed, and what is compared can be: ``filter(_:)-(RealmPredicate)`` throws
    ///   instead.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        let backing = managed("index(matching:)")
        return attempt { try backing.position(matching: Query.predicate(isIncluded, in: backing.core)) }
    }

    /// The position of the first projection whose object a predicate holds for.
    ///
    /// - Precondition: The collection is managed, and the predicate parses and fits the class. For text from outside
    ///   ``filter(_:)-(RealmPredicate)`` throws.
    public func index(matching predicateFormat: String, _ arguments: Any...) -> Int? {
        position(matching: predicateFormat, arguments)
    }
}
