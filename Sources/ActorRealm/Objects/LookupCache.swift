import RealmModel
import RealmQuery
import RealmStorage

/// What looked something up in one table last, to be asked again; each with the generation that it is of.
struct LookupCache: ~Copyable {
    private let table: TableView
    private let generation: UnsafeMutablePointer<UInt64>
    /// The run of int primary keys that was found last.
    private var run = PrimaryKeyRun()
    private var runGeneration: UInt64 = 0
    /// What reads the links to one row after another, and the class that they come from.
    private var backlinks: BacklinkReader?
    private var backlinksGeneration: UInt64 = 0
    /// What looks values up in the index that was asked last.
    private var indexReader: Unmanaged<IndexReader>?
    private var indexGeneration: UInt64 = 0
    /// The formats of string predicates that ask for the value of an indexed property, with its stored ordinal.
    private var equalities: [String: Int] = [:]
    private var lastEquality: (format: String, property: Int)?

    init(_ table: TableView) {
        self.table = table
        generation = table.model.generation
    }

    deinit {
        indexReader?.release()
    }

    /// The row with an int primary key.
    @inline(__always)
    mutating func find(intPrimaryKey key: Int64) throws(StorageError) -> Int64? {
        if runGeneration == generation.pointee, let row = run.row(of: key) { return row }
        run = try table.run(ofIntPrimaryKey: key)
        runGeneration = generation.pointee
        return run.row(of: key)
    }

    /// The first row that an index leads to.
    @inline(__always)
    mutating func firstKey(_ equality: IndexedEquality) throws -> Int64? {
        if table.primaryKeyOrdinal == equality.property, case .int(let key) = equality.value {
            return try find(intPrimaryKey: key)
        }
        if let indexReader, indexGeneration == generation.pointee {
            let isThis = indexReader._withUnsafeGuaranteedRef { $0.property == equality.property }
            if isThis {
                return try indexReader._withUnsafeGuaranteedRef { try $0.firstKey(equalTo: equality.value) }
            }
        }
        let reader = try IndexReader(equality.property, of: table)
        indexReader?.release()
        indexReader = Unmanaged.passRetained(reader)
        indexGeneration = generation.pointee
        return try reader.firstKey(equalTo: equality.value)
    }

    /// What reads the rows of a class that link to a row through one of its properties.
    @inline(__always)
    mutating func backlinkReader(from origin: TableView, property: Int) throws(StorageError) -> BacklinkReader {
        if let backlinks, backlinksGeneration == generation.pointee, backlinks.reads(origin, property) {
            return backlinks
        }
        let reader = try BacklinkReader(of: table, from: origin, property: property)
        backlinks = reader
        backlinksGeneration = generation.pointee
        return reader
    }

    /// The stored ordinal of the indexed property whose value a format asks for, where that is remembered.
    mutating func knownEquality(_ format: String) -> Int? {
        if let lastEquality, lastEquality.format == format { return lastEquality.property }
        guard let known = equalities[format] else { return nil }
        lastEquality = (format, known)
        return known
    }

    /// Remembers a format, whose only argument is the value of an indexed property.
    mutating func rememberEquality(_ format: String, _ property: Int) {
        if equalities.count < 64 { equalities[format] = property }
    }

    /// Forgets formats: properties have other ordinals.
    mutating func forgetEqualities() {
        equalities = [:]
        lastEquality = nil
    }
}

#if DEBUG
extension LookupCache {
    /// Formats ask for properties that there are.
    func checkInvariants() throws(BrokenInvariant) {
        try Invariant.require(equalities.count <= 64, "\(equalities.count) formats are remembered")
        let properties = table.schema.properties.indices
        for (format, property) in equalities {
            try Invariant.require(properties.contains(property), "'\(format)' asks for property \(property)")
        }
        guard let lastEquality else { return }
        try Invariant.require(
            equalities[lastEquality.format] == lastEquality.property,
            "'\(lastEquality.format)' asked for another property before"
        )
    }
}
#endif
