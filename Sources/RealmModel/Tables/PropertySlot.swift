import RealmStorage

/// What a row operation must know of a property, flat.
@frozen
@usableFromInline
package struct PropertySlot: BitwiseCopyable, Sendable {
    /// The physical column, -1 for computed properties.
    @usableFromInline package var column: Int32
    /// The slot of the index tree, or of the backlink tree of a link property; -1 without one.
    @usableFromInline package var tree: Int32
    /// The table of the linked class; 0 for other kinds.
    @usableFromInline package var targetTable: UInt32
    @usableFromInline package var kind: PropertyKind
    /// The raw value of the column's kind.
    @usableFromInline package var columnKindValue: UInt8
    @usableFromInline package var collection: CollectionKind
    /// Whether the column is nullable.
    @usableFromInline package var isNullable: Bool
    /// Whether values or elements may be null.
    @usableFromInline package var isOptional: Bool
    @usableFromInline package var isPrimaryKey: Bool
    /// Whether the linked class is embedded: its rows live and die with the link.
    @usableFromInline package var ownsTarget: Bool
    /// The raw value of the delete rule; that of embedded objects is theirs.
    @usableFromInline package var deleteRuleValue: UInt8
    /// Whether a compound index holds the property.
    @usableFromInline package var isInCompoundIndex = false
    /// Whether a unique index holds the property, alone or with others.
    @usableFromInline package var isInUniqueIndex: Bool
    /// The key with which strings are hashed that do not stand whole in the class's indexes; zeros where they are not.
    @usableFromInline var hashKeyLow: UInt64
    @usableFromInline var hashKeyHigh: UInt64

    init(
        _ property: PropertySchema,
        tree: Int,
        in schema: DatabaseSchema,
        _ longStrings: LongStringKeys = LongStringKeys()
    ) {
        column = Int32(property.column)
        self.tree = Int32(tree)
        kind = property.kind
        columnKindValue = property.layout.kind.rawValue
        collection = property.collection
        isNullable = property.layout.isNullable
        isOptional = property.isOptional
        isPrimaryKey = property.isPrimaryKey
        let target = property.isLink ? schema[property.targetClass ?? ""] : nil
        targetTable = target?.tableID ?? 0
        ownsTarget = target?.isEmbedded ?? false
        deleteRuleValue = property.deleteRule.rawValue
        isInUniqueIndex = property.hasUniqueIndex
        hashKeyLow = longStrings.hashKey.low
        hashKeyHigh = longStrings.hashKey.high
    }

    /// Whether strings that do not stand whole in an index have their hash there.
    var hashesLongStrings: Bool { hashKeyLow != 0 }

    var hashKey: SipHash.Key { SipHash.Key(low: hashKeyLow, high: hashKeyHigh) }

    var deleteRule: DeleteRule { DeleteRule(rawValue: deleteRuleValue) ?? .nullify }

    /// Whether the linked rows go with the row.
    var cascades: Bool { ownsTarget || deleteRule == .cascade }

    var columnKind: ColumnKind { ColumnKind(rawValue: columnKindValue) ?? .bytes }

    /// Whether the property is a link or a collection of links to one class.
    @inlinable @inline(__always)
    package var isLink: Bool { kind == .object }

    /// Whether values can be or contain links, whose backlinks its tree holds.
    // Always inlined: a call is handed each field of the slot, which costs more than the question.
    @inlinable @inline(__always)
    package var makesLinks: Bool { kind == .object || kind == .any }

    /// How the elements of a collection lie in it: those of a dictionary are entries, names with their values.
    var elements: PropertySlot {
        guard collection == .map else { return self }
        var slot = self
        slot.kind = .data
        slot.isOptional = false
        return slot
    }

    /// Whether its tree holds runs of values and rows that go up together, see `KeyRuns`.
    @inlinable var hasKeyRuns: Bool { isPrimaryKey && kind == .int }

    /// Whether its tree is derived from one column value per row, so that it can be brought up to date later.
    var isDeferrable: Bool { tree >= 0 && collection == .none && kind != .any }
}

extension PropertySchema {
    /// Whether a table keeps a tree for the property: an index, or the backlinks that it makes.
    var hasTree: Bool { hasIndex || makesLinks }

    /// Whether its tree holds runs, see `KeyRuns`.
    var hasKeyRuns: Bool { isPrimaryKey && kind == .int }
}
