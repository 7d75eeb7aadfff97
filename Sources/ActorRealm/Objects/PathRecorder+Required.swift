extension PathRecorder {
    /// The steps that a key path goes through.
    ///
    /// Where nobody knows a value of the type that it leads to, for getters to return, one is taken from objects.
    ///
    /// - Parameter objects: Objects of the class, which may be read.
    /// - Returns: The steps; none where that takes an object, and there is none.
    /// - Throws: `invalidInput` for one that names no stored property, or goes through a position of a collection; what reading the objects
    ///   does where it takes one.
    static func requiredSteps<Root: ObjectBase, Objects: Sequence>(
        of path: PartialKeyPath<Root>,
        in type: Root.Type,
        readFrom objects: () throws -> Objects
    ) throws -> [PathStep] where Objects.Element == Root {
        var lent: Any?
        if let valueType = Swift.type(of: path).valueType as? any _CustomPersistable.Type,
            !canRecord(valueType, in: type)
        {
            let properties = ModelClass.of(type).properties
                .filter { ObjectIdentifier($0.valueType) == ObjectIdentifier(valueType) }
            if properties.isEmpty { throw Realm.Error(.invalidInput, brokenMessage("\(path)")) }
            lent = try readableValue(of: properties, in: objects())
            if lent == nil { return [] }
        }
        guard let steps = recordedSteps(of: path, in: type, lent: lent), !steps.contains(where: \.takesPosition) else {
            throw Realm.Error(.invalidInput, brokenMessage("\(path)"))
        }
        return steps
    }

    /// The first value of some properties that can be read; nil where there are no objects.
    private static func readableValue<Objects: Sequence>(
        of properties: [ModelProperty],
        in objects: Objects
    ) throws -> Any? where Objects.Element: ObjectBase {
        var failure: (any Error)?
        for object in objects {
            for property in properties {
                do {
                    try object.requireReadable(property)
                    return property.value(in: object)
                } catch {
                    failure = failure ?? error
                }
            }
        }
        if let failure { throw failure }
        return nil
    }
}
