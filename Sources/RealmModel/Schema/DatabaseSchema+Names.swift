import OrderedCollections

/// Classes whose name in the file is not the one that programs use.
///
/// A nested class is called by what it is nested in, too: `Outer_Inner`. Files that were written before have it as `Inner`, and
/// so have the programs that wrote them. The file keeps its name, so that such a program goes on beside a newer one and after it,
/// and says by which name newer programs know the class. Everything above the stored form uses that one.
extension DatabaseSchema {
    /// The schema of a file with the classes that a program declares called as it calls them.
    ///
    /// - Throws: `invalidSchema` when a class in the file can be several of those declared.
    package func called(asIn declared: DatabaseSchema) throws(ModelError) -> DatabaseSchema {
        var claims: [String: [String]] = [:]
        for object in declared.classes.values where self[object.name] == nil {
            let former = object.formerNames.first { classes[$0] != nil && declared.classes[$0] == nil }
            guard let former, classes[former]?.storedName == nil else { continue }
            claims[former, default: []].append(object.name)
        }
        let faults = claims.sorted { $0.key < $1.key }
            .filter { $0.value.count > 1 }
            .map { stored, names in
                "The file has a class '\(stored)', which may be any of \(names.map { "'\($0)'" }.joined(separator: " and ")): "
                    + "override `_realmObjectName()` to return \"\(stored)\" in the one that it is."
            }
        guard faults.isEmpty else { throw .invalidSchema(faults) }
        return calling(claims.compactMapValues(\.first), isRecorded: false)
    }

    /// A declared schema with the names by which a file has its classes.
    ///
    /// - Throws: `invalidSchema` when two declared classes are one in the file.
    func called(asStoredIn stored: DatabaseSchema) throws(ModelError) -> DatabaseSchema {
        var names: [String: String] = [:]
        for name in classes.keys where stored.classes[name] == nil {
            let programName = stored.name(of: name)
            if programName == name { continue }
            guard classes[programName] == nil else {
                throw .invalidSchema([
                    "The file has the class '\(programName)' under the name '\(name)', which another class declares: override "
                        + "`_realmObjectName()` in that one."
                ])
            }
            names[name] = programName
        }
        if names.isEmpty { return self }
        return DatabaseSchema(
            classes: classes.values.map { declared in
                declared.renamed(names[declared.name] ?? declared.name) { names[$0] ?? $0 }
            },
            version: version
        )
    }

    /// The classes of a file as it says that they are called, and otherwise as another schema of it calls them.
    static func called(_ classes: [ClassSchema], as known: DatabaseSchema?) -> [ClassSchema] {
        var names: [String: String] = [:]
        var taken = Set(classes.map { $0.storedName ?? $0.name })
        for schema in classes {
            let stored = schema.storedName ?? schema.name
            let before = known?.schema(of: schema.tableID).flatMap { $0.storedName == stored ? $0.name : nil }
            // What another class is stored as is that one's name.
            guard let name = schema.storedName == nil ? before : schema.name, taken.insert(name).inserted else {
                continue
            }
            names[stored] = name
        }
        if names.isEmpty, classes.allSatisfy({ $0.storedName == nil }) { return classes }
        return classes.map { schema in
            let stored = schema.storedName ?? schema.name
            return schema.calling(itself: names[stored] ?? stored, isRecorded: schema.isNameRecorded) {
                names[$0] ?? $0
            }
        }
    }

    private func calling(_ names: [String: String], isRecorded: Bool) -> DatabaseSchema {
        if names.isEmpty { return self }
        var schema = DatabaseSchema(
            classes: classes.values.map { object in
                object.calling(
                    itself: names[object.name] ?? object.name,
                    isRecorded: names[object.name] == nil ? object.isNameRecorded : isRecorded
                ) { names[$0] ?? $0 }
            },
            version: version
        )
        schema.stamp = stamp
        return schema
    }

    /// Whether a class is called otherwise than the file says.
    package var hasUnrecordedNames: Bool { classes.values.contains { $0.storedName != nil && !$0.isNameRecorded } }

    /// The names that a file does not have yet.
    var unrecordedNames: [SchemaPlan.Step] {
        classes.values.compactMap { schema in
            guard let stored = schema.storedName, !schema.isNameRecorded else { return nil }
            return .recordName(className: schema.name, storedName: stored)
        }
    }
}

extension ClassSchema {
    /// A stored class as programs call it, and the classes that it links to.
    func calling(itself newName: String, isRecorded: Bool, _ target: (String) -> String) -> ClassSchema {
        let stored = storedName ?? name
        var schema = renamed(newName, target)
        schema.storedName = stored == newName ? nil : stored
        schema.isNameRecorded = isRecorded && stored != newName
        return schema
    }

    /// The class under another name, with links to classes of other names.
    func renamed(_ newName: String, _ target: (String) -> String) -> ClassSchema {
        mappingProperties(named: newName) { $0.targetClass = $0.targetClass.map(target) }
    }

    /// The class with other properties, and under another name where one is given.
    package func mappingProperties(named newName: String? = nil, _ body: (inout PropertySchema) -> Void) -> ClassSchema
    {
        var schema = ClassSchema(
            name: newName ?? name,
            properties: properties.map { property in
                var property = property
                body(&property)
                return property
            },
            compoundIndexes: compoundIndexes,
            isEmbedded: isEmbedded,
            formerNames: formerNames
        )
        schema.tableID = tableID
        schema.columnLayouts = columnLayouts
        schema.longStrings = longStrings
        schema.furtherIndexCount = furtherIndexCount
        schema.storedName = storedName
        schema.isNameRecorded = isNameRecorded
        return schema
    }
}
