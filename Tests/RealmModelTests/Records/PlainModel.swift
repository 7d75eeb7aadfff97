import RealmModel

/// A database in plain Swift dictionaries, with what the declarations say spelled out naively: no code of the engine takes part.
struct PlainModel {
    /// The values of a row by the names of its properties, computed ones left out.
    typealias Row = [String: PlainValue]

    /// The classes that the file has, those among them that nobody declares any more.
    var classes: [ClassSchema] = []
    var rows: [String: [Int64: Row]] = [:]
    /// What the next row of a class gets, or at least that where `hasLostKeys`.
    var nextKeys: [String: Int64] = [:]
    /// Above all keys that were given out, also to rows that a rollback took back.
    var spentKeys: [String: Int64] = [:]
    /// What the first row of the next class gets: keys of classes that were removed are not given out again.
    var firstKey: Int64 = 0
    /// Whether a transaction was rolled back, whose keys no record tells.
    private(set) var hasLostKeys = false

    func schema(_ className: String) -> ClassSchema? { classes.first { $0.name == className } }

    func isEmbedded(_ className: String?) -> Bool { className.flatMap { schema($0)?.isEmbedded } ?? false }

    /// Whether a property's objects live and die with the link.
    func owns(_ property: PropertySchema) -> Bool { property.isLink && isEmbedded(property.targetClass) }

    func keys(of className: String) -> [Int64] { rows[className, default: [:]].keys.sorted() }

    /// Goes back to what was, but for the keys: those that were given out are never given out again.
    mutating func rollBack(to before: PlainModel) {
        let spent = spentKeys
        self = before
        for (name, key) in spent { if let known = spentKeys[name] { spentKeys[name] = max(known, key) } }
        hasLostKeys = true
    }

    // MARK: Rows

    /// Null, or zero or nothing where that is not allowed.
    static func initial(_ property: PropertySchema) -> PlainValue {
        switch property.collection {
        case .list: .list([])
        case .set: .set([])
        case .map: .map([:])
        case .none: property.isOptional ? .null : zero(property.kind)
        }
    }

    static func zero(_ kind: PropertyKind) -> PlainValue {
        switch kind {
        case .int: .int(0)
        case .bool: .bool(false)
        case .string: .text("")
        case .data: .data([])
        case .date: .date(0)
        case .float: .float(0)
        case .double: .double(0)
        case .objectId: .objectID(0, 0)
        case .uuid: .uuid(0, 0)
        case .decimal128: .decimal(0, 0)
        case .object, .linkingObjects, .any: .null
        }
    }

    mutating func insert(_ place: PlainPlace, primaryKey: PlainValue?) {
        guard let schema = schema(place.className) else { return }
        var row: Row = [:]
        for property in schema.properties where property.isStored { row[property.name] = Self.initial(property) }
        if let name = schema.primaryKey?.name, let primaryKey { row[name] = primaryKey }
        rows[place.className, default: [:]][place.key] = row
        nextKeys[place.className] = place.key + 1
        spentKeys[place.className] = max(spentKeys[place.className, default: 0], place.key + 1)
    }

    func value(_ property: String, of place: PlainPlace) -> PlainValue {
        rows[place.className]?[place.key]?[property] ?? .null
    }

    /// Gives a property a value; embedded objects that it held, and nothing holds any more, go.
    mutating func put(_ value: PlainValue, _ property: PropertySchema, of place: PlainPlace) {
        let old = self.value(property.name, of: place)
        rows[place.className]?[place.key]?[property.name] = value
        if owns(property) { deleteUnowned(Set(old.links).subtracting(value.links)) }
    }

    // MARK: Uniqueness

    /// The names of properties whose values together are those of one row only.
    static func uniqueNames(_ schema: ClassSchema) -> [[String]] {
        schema.properties.filter { $0.isUnique && !$0.isPrimaryKey }.map { [$0.name] }
            + schema.compoundIndexes.filter(\.isUnique).map(\.properties)
    }

    /// Whether a row has the values that another one has, none of them null, where no two may have the same.
    func isDuplicate(_ place: PlainPlace) -> Bool {
        guard let schema = schema(place.className) else { return false }
        let rows = rows[place.className, default: [:]]
        return Self.uniqueNames(schema)
            .contains { names in
                func values(_ key: Int64) -> [PlainValue?] { names.map { rows[key]?[$0]?.identity } }
                let own = values(place.key)
                return !own.contains(PlainValue.null) && rows.keys.contains { $0 != place.key && values($0) == own }
            }
    }

    var hasDuplicates: Bool {
        classes.contains { schema in
            Self.uniqueNames(schema)
                .contains { names in
                    var seen: Set<[PlainValue?]> = []
                    return rows[schema.name, default: [:]].values
                        .contains { row in
                            let values = names.map { row[$0]?.identity }
                            return !values.contains(PlainValue.null) && !seen.insert(values).inserted
                        }
                }
        }
    }
}
