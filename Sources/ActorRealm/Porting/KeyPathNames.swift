/// The names that a key path goes through, joined by dots, as `sorted(byKeyPath:)` and predicates take them.
///
/// - Precondition: The path leads through properties marked `@Persisted`.
public func _name<Root: ObjectBase>(for keyPath: PartialKeyPath<Root>) -> String { PathRecorder.name(of: keyPath) }

/// The names of the object's properties that a key path of a projection stands for, joined by dots.
///
/// - Precondition: The path leads to a `@Projected` property.
public func _name<Root: ProjectionObservable>(for keyPath: PartialKeyPath<Root>) -> String { Root._name(of: keyPath) }
