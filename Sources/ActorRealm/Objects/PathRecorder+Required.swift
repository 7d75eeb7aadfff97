extension PathRecorder {
    /// The steps that a key path goes through, found without ending the process.
    ///
    /// Where the path leads to a type of the program's own of which nobody knows a value, for the getter to return, one is taken from the objects.
    ///
    /// - Parameters:
    ///   - path: The key path.
    ///   - type: The class that it begins in.
    ///   - objects: Objects of the class, which may be read.
    /// - Returns: The steps; none where that takes an object, and there is none.
    /// - Throws: `invalidInput` for one that names no stored property, or goes through a position of a collection; what reading the objects
    ///   does where it takes one.
    static func requiredSteps<Root: ObjectBase, Objects: Sequence>(
        of path: PartialKeyPath<Root>,
        in type: Root.Type,
        readFrom objects: () throws -> Objects
    ) throws -> [PathStep] where Objects.Element == Root {
        guard let steps = try readSteps(of: path, in: type, readFrom: objects), !steps.contains(where: \.takesPosition)
        else { throw Realm.Error(.invalidInput, brokenMessage("\(path)")) }
        return steps
    }

    /// The same, with those through positions, and nil for one that names no stored property.
    static func readSteps<Root: ObjectBase, Objects: Sequence>(
        of path: PartialKeyPath<Root>,
        in type: Root.Type,
        readFrom objects: () throws -> Objects
    ) throws -> [PathStep]? where Objects.Element == Root {
        // Made first, for what it declares is known then.
        _ = instance(of: type)
        guard let valueType = Swift.type(of: path).valueType as? any _CustomPersistable.Type, !valueType.canBeRecorded
        else { return recordedSteps(of: path, in: type) }
        let identifier = ObjectIdentifier(valueType)
        let properties = ModelClass.of(type).properties.filter { ObjectIdentifier($0.valueType) == identifier }
        if properties.isEmpty { return recordedSteps(of: path, in: type) }
        guard let value = try readableValue(of: properties, in: objects()) else { return [] }
        return recordedSteps(of: path, in: type, lent: [identifier: value])
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
