import Synchronization

/// The properties of projection classes, found once per class.
enum ProjectionSchema {
    /// A projected property.
    struct Property {
        /// The name in the projection.
        let name: String
        let steps: [PathStep]
        /// The name in the object's class, dotted across links and collections.
        let path: String
        let projected: any AnyProjected

        init(name: String, steps: [PathStep], projected: any AnyProjected) {
            self.name = name
            self.steps = steps
            path = steps.map(\.name).joined(separator: ".")
            self.projected = projected
        }

        /// The steps as far as the property that is projected, which for a collection of its objects' values is the collection.
        private var originSteps: [PathStep] {
            projected.isProjectedCollection && steps.count > 1 ? Array(steps.dropLast()) : steps
        }

        /// The same, by their names.
        var origin: String { originSteps.map(\.name).joined(separator: ".") }

        /// Throws what reading the property of an object would trap on.
        func requireReadable(in root: ObjectBase) throws { try root.requireReadable(originSteps) }

        /// The value in an object; nil where reading it would trap.
        func readableValue(of root: ObjectBase) -> Any? {
            guard (try? requireReadable(in: root)) != nil else { return nil }
            return projected.value(of: root)
        }
    }

    // What is found never changes, and key paths are immutable.
    private struct Known: @unchecked Sendable {
        var byType: [ObjectIdentifier: [Property]] = [:]
    }

    private static let known = Mutex(Known())

    /// The properties of a projection class, those of superclasses first.
    static func of<Value: ProjectionObservable>(_ type: Value.Type) -> [Property] { find(type) { $0.path() } }

    /// The same, found without ending the process: where nobody knows a value for a getter to return, one is taken from an object.
    ///
    /// A path has no steps where it leads to such a value, and the object leads to none.
    ///
    /// - Throws: What reading the object does.
    static func of<Value: ProjectionObservable>(
        _ type: Value.Type,
        readFrom object: Value.Root
    ) throws -> [Property] { try find(type) { try $0.path(readFrom: object) } }

    private static func find<Value: ProjectionObservable>(
        _ type: Value.Type,
        path: (any AnyProjected) throws -> [PathStep]
    ) rethrows -> [Property] {
        let identifier = ObjectIdentifier(type)
        if let found = known.withLock({ Shared(properties: $0.byType[identifier]) }).properties { return found }
        let root = unsafeDowncast(PathRecorder.instance(of: Value.Root.self), to: Value.Root.self)
        let properties = try read(Mirror(reflecting: type.init(projecting: root)), of: type, path: path)
        // Else another object has to be asked.
        if !properties.contains(where: { $0.steps.isEmpty }) {
            let shared = Shared(properties: properties)
            known.withLock { $0.byType[identifier] = shared.properties }
        }
        return properties
    }

    // As above.
    private struct Shared: @unchecked Sendable {
        let properties: [Property]?
    }

    private static func read(
        _ mirror: Mirror,
        of type: Any.Type,
        path: (any AnyProjected) throws -> [PathStep]
    ) rethrows -> [Property] {
        var properties: [Property] = []
        if let superclass = mirror.superclassMirror { properties = try read(superclass, of: type, path: path) }
        for child in mirror.children {
            guard let label = child.label, label != "rootObject" else { continue }
            guard let projected = child.value as? any AnyProjected else {
                misuse(
                    "Every property of \(type) must be a `@Projected` property: '\(label)' is not. Make it a computed one."
                )
            }
            let name = label.hasPrefix("_") ? String(label.dropFirst()) : label
            properties.append(try Property(name: name, steps: path(projected), projected: projected))
        }
        return properties
    }

    /// The properties that a key path of a projection leads to: one, or all with its path where it is not known which of them.
    static func properties<Value: ProjectionObservable>(
        of keyPath: PartialKeyPath<Value>,
        in type: Value.Type
    ) -> [Property] {
        var storage: AnyKeyPath?
        let names = PathRecorder.names(in: Value.Root.self, describing: "\(keyPath)") { root in
            _ = type.init(projecting: root)[keyPath: keyPath]
            storage = PathRecorder.projectedStorage
        }
        let path = names.joined(separator: ".")
        let found = of(type).filter { $0.path == path }
        // The storage's key path is described by its name; nothing else tells properties with one path apart.
        guard found.count > 1, let name = storage.flatMap({ "\($0)".split(separator: ".").last }),
            let property = found.first(where: { name == "_" + $0.name })
        else { return found }
        return [property]
    }

    /// The names in the object's class that a key path of a projection goes through.
    static func name<Value: ProjectionObservable>(of keyPath: AnyKeyPath, in type: Value.Type) -> String {
        guard let keyPath = keyPath as? PartialKeyPath<Value> else {
            misuse("The key path \(keyPath) does not begin at \(type).")
        }
        return
            PathRecorder.names(in: Value.Root.self, describing: "\(keyPath)") { root in
                _ = type.init(projecting: root)[keyPath: keyPath]
            }
            .joined(separator: ".")
    }

    /// The paths that observers of a collection of projections tell of: of the properties that have these names, or of all.
    ///
    /// What is no name of the projection's may be one of the object's class.
    static func paths<Value: ProjectionObservable>(_ names: [String]?, in type: Value.Type) -> [String] {
        let properties = of(type)
        guard let names else { return properties.map(\.path) }
        return names.map { name in properties.first { $0.name == name }?.path ?? name }
    }

    /// The paths of the properties that have these names, or of all.
    static func labels<Value: ProjectionObservable>(
        _ names: [String]?,
        in type: Value.Type
    ) -> [ObjectSubject.Label] {
        let properties = of(type)
        guard let names, !names.isEmpty else {
            return properties.map { ObjectSubject.Label(name: $0.name, keyPaths: [$0.path]) }
        }
        return names.map { name in
            guard let property = properties.first(where: { $0.name == name }) else {
                misuse("property '\(name)' not found in object of type '\(type)'")
            }
            return ObjectSubject.Label(name: name, keyPaths: [property.path])
        }
    }
}
