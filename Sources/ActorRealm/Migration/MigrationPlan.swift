/// What a migration would do to a file: the answer of ``Realm/migrationPlan(for:)``, to be read before a release goes out.
///
/// ```swift
/// let plan = try await Realm.migrationPlan(for: configuration)
/// print(plan)
/// for change in plan.removed where change.valueCount > 0 {
///     print("\(change.className).\(change.propertyName ?? "") has values")
/// }
/// ```
public struct MigrationPlan: Sendable, Hashable {
    /// A difference between the file and the classes.
    public struct Change: Sendable, Hashable {
        /// What becomes of a class or a property.
        public enum Kind: Sendable, Hashable {
            /// The file gets it.
            case added
            /// The file loses it.
            case removed
            /// It seems to have this name now: a guess, which only `renameProperty` in a migration block makes true.
            case renamed(to: String)
            /// It gets this type, and its values start anew.
            case retyped(to: String)
            /// It may be nil from here on; its values stay.
            case madeOptional
            /// It may not be nil any more: nil becomes the default.
            case madeRequired
            /// It becomes the primary key, or stops being it.
            case keyChanged
            /// Its index, its uniqueness, its rule for deletion or its origin changes.
            case ruleChanged
            /// Its objects become parts of others, or stop being that.
            case embeddednessChanged
        }

        /// What becomes of it.
        public let kind: Kind
        /// The class.
        public let className: String
        /// The property by its name in the file, or of several, for an index over these; nil for the class itself.
        public let propertyName: String?
        /// The type of the property: that in the file, and for one that is added that in the program.
        public let type: String?
        /// How many objects the class has in the file.
        public let objectCount: Int
        /// How many of these have a value in the property that is more than zero, empty or nil.
        public let valueCount: Int
    }

    /// The version of the file; nil for one that has no classes yet.
    public let oldSchemaVersion: UInt64?
    /// The version of the configuration.
    public let newSchemaVersion: UInt64
    /// Whether opening needs a higher ``Realm/Configuration/schemaVersion`` for what there is to do, and would throw
    /// `schemaMismatch`.
    public let needsHigherVersion: Bool
    /// All differences, class by class.
    public let changes: [Change]
    /// How many objects are rewritten, each counted once.
    public let objectCount: Int
    /// How long that takes, about, on a machine of today: without the program's own block, and without waiting for others.
    public let estimatedDuration: Duration

    /// Whether the file fits as it is.
    public var isEmpty: Bool { changes.isEmpty && oldSchemaVersion == newSchemaVersion }

    /// Classes and properties that the file gets.
    public var added: [Change] { changes.filter { $0.kind == .added } }

    /// Properties that the file loses, those that seem to have another name apart.
    public var removed: [Change] { changes.filter { $0.kind == .removed } }

    /// Properties that seem to have another name: without `renameProperty` their values are lost.
    public var renamed: [Change] { changes.filter { if case .renamed = $0.kind { true } else { false } } }

    /// Properties that get another type: without a block that writes them their values are lost.
    public var retyped: [Change] { changes.filter { if case .retyped = $0.kind { true } else { false } } }
}

extension MigrationPlan: CustomStringConvertible {
    /// The plan, a line for each change.
    public var description: String {
        let versions = oldSchemaVersion.map { "from version \($0) to \(newSchemaVersion)" } ?? "a file without classes"
        if isEmpty { return "Migration \(versions): nothing to do." }
        var lines = ["Migration \(versions): \(Self.count(objectCount, "object")) to rewrite, about \(seconds) s."]
        if needsHigherVersion { lines.append("It needs a higher `schemaVersion` than \(newSchemaVersion).") }
        return (lines + changes.map { "- \($0)" }).joined(separator: "\n")
    }

    private var seconds: String {
        let tenths = (estimatedDuration / .milliseconds(100)).rounded(.up)
        return "\(tenths / 10)"
    }

    fileprivate static func count(_ number: Int, _ word: String) -> String {
        "\(number) \(word)\(number == 1 ? "" : "s")"
    }
}

extension MigrationPlan.Change: CustomStringConvertible {
    /// The change in a line.
    public var description: String {
        let name = propertyName.map { "'\(className).\($0)'" } ?? "class '\(className)'"
        let values = "\(MigrationPlan.count(valueCount, "value")) in \(MigrationPlan.count(objectCount, "object"))"
        let type = type.map { " (\($0))" } ?? ""
        switch kind {
        case .added: return "\(name)\(type) is added"
        case .removed: return "\(name)\(type) is removed: \(values)"
        case .renamed(let new):
            return "\(name)\(type) seems to be '\(className).\(new)' now, by its type and values: \(values)"
        case .retyped(let new): return "\(name)\(type) becomes \(new): \(values)"
        case .madeOptional: return "\(name)\(type) becomes optional: \(values) stay"
        case .madeRequired: return "\(name)\(type) becomes required: nil becomes the default, \(values) stay"
        case .keyChanged: return "\(name) changes its primary key"
        case .ruleChanged: return "\(name) changes its index or its rules"
        case .embeddednessChanged: return "\(name) becomes embedded, or stops being it"
        }
    }
}
