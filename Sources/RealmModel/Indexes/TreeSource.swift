import RealmStorage

/// What a tree that is a function of its table's rows is made from: an index, or the backlinks of a to-one link.
struct TreeSource: Sendable {
    /// The place among the table's trees.
    let tree: Int
    /// The ordinals of the properties, in order: one, or those of a compound index.
    let ordinals: [Int]
    let slots: [PropertySlot]
    /// Whether no two rows may have the same values, except where one is null; a primary key's own rule is not meant.
    let isUnique: Bool
    /// The number of bytes of a string that stand in a key.
    let stringByteLimit: Int

    /// The tree of one property.
    init(_ slot: PropertySlot, ordinal: Int, isUnique: Bool) {
        tree = Int(slot.tree)
        ordinals = [ordinal]
        slots = [slot]
        self.isUnique = isUnique
        stringByteLimit = IndexKey.stringByteLimit
    }

    /// The tree of a compound index.
    init(compound slots: [PropertySlot], ordinals: [Int], tree: Int, isUnique: Bool) {
        self.tree = tree
        self.ordinals = ordinals
        self.slots = slots
        self.isUnique = isUnique
        stringByteLimit = Self.stringByteLimit(slots)
    }

    /// The strings of a compound key share the bytes that one string of a plain index has.
    private static func stringByteLimit(_ slots: [PropertySlot]) -> Int {
        IndexKey.stringByteLimit / max(1, slots.count { $0.kind == .string })
    }

    var isCompound: Bool { slots.count > 1 }

    /// Whether the tree holds runs, see `KeyRuns`.
    var hasKeyRuns: Bool { !isCompound && slots[0].hasKeyRuns }

    /// Whether a value does not stand whole in a key.
    func isTruncated(_ value: StoredValue) -> Bool {
        if case .string(let string) = value { return string.utf8.count > stringByteLimit }
        return false
    }
}

/// The numbers under which a table's entry names its trees.
enum TreeTag {
    /// The first number of compound indexes; those of properties are their physical columns.
    static let compound = 0x8000_0000

    /// The number of a compound index at a place in its class.
    static func compound(_ index: Int) -> Int { compound | index }
}

extension ClassSchema {
    /// The properties that have trees, with the trees' places, and the sources of those that are functions of the rows.
    func treeSources(slots: [PropertySlot]) -> (tags: [Int], sources: [TreeSource]) {
        var tags: [Int] = []
        var sources: [TreeSource] = []
        for (ordinal, property) in properties.enumerated() where property.hasTree {
            tags.append(property.column)
            if slots[ordinal].isDeferrable {
                sources.append(TreeSource(slots[ordinal], ordinal: ordinal, isUnique: property.hasUniqueIndex))
            }
        }
        for (place, index) in compoundIndexes.enumerated() {
            let ordinals = ordinals(of: index)
            sources.append(
                TreeSource(
                    compound: ordinals.map { slots[$0] },
                    ordinals: ordinals,
                    tree: tags.count,
                    isUnique: index.isUnique
                )
            )
            tags.append(TreeTag.compound(place))
        }
        return (tags, sources)
    }
}

extension PropertySchema {
    /// Whether the property is unique without being the primary key, which is so by itself.
    var hasUniqueIndex: Bool { isUnique && !isPrimaryKey }
}
