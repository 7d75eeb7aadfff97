import CRealmShims
import RealmModel
import RealmStorage

nonisolated extension ObjectBase {
    /// Points the accessor at a row that was just looked up.
    @inline(__always)
    final func point(to location: RowLocation, generation: UInt64) {
        rowLeaf = location.leaf.base
        rowIndex = location.row
        rowGeneration = generation
    }

    /// Whether the row was never found: a row that was found once and is not there any more was deleted, and then nobody has to look
    /// through the indexes for what names it.
    final var wasNeverThere: Bool { rowLeaf == nil }

    /// Whether collections of the object may be kept in its wrappers: not while several threads may read it.
    @usableFromInline final var cachesCollections: Bool { !(core?.isFrozen ?? true) }

    /// Traps unless the object is managed, and checks the isolation.
    @discardableResult
    final func checkedAccessor() -> TableAccessor {
        guard let core, let tableAccessor else {
            misuse("The object is not managed by a Realm. Add it to one first.")
        }
        core.checkAccess()
        return tableAccessor
    }

    /// The verdict of the check that every access makes, without the trap.
    ///
    /// A seam for tests, inlined where it is asked as the check of a getter is. Unlike a getter it may be asked from elsewhere,
    /// where it is refused, while the word is written.
    @inlinable @inline(__always)
    package final var wouldAdmitCaller: Bool {
        RealmPlace.loaded(from: tableState.pointee.place).isCaller || isolationAdmitsCaller
    }

    /// What the isolation says where the word does not.
    @usableFromInline
    @inline(never)
    final var isolationAdmitsCaller: Bool { core?.isolation.isCurrent ?? true }

    /// Looks the row up again when the version or the leaf changed; where that fails, the commit of the open transaction throws it.
    ///
    /// - Returns: whether the row can be written.
    private func refreshLocation(_ accessor: TableAccessor) -> Bool {
        let generation = accessor.state.pointee.generation.pointee
        if rowGeneration == generation { return true }
        do throws(StorageError) {
            guard let location = try accessor.locate(rowKey) else {
                guard let damage = accessor.table.damage(ofMissing: rowKey) else {
                    misuse(TableAccessor.deletedMessage)
                }
                throw damage
            }
            point(to: location, generation: generation)
            return true
        } catch {
            accessor.core.writeFailed(error)
            return false
        }
    }

    /// The table, not counted, after the check of the isolation that every read makes.
    @inline(__always)
    private final var readableAccessor: Unmanaged<TableAccessor> {
        if _fastPath(tableState.pointee.place.pointee.isCaller), let accessor = tableState.pointee.accessor {
            return accessor
        }
        return Unmanaged.passUnretained(checkedAccessor())
    }

    /// The part of `column(_:)` that runs after a change of version or leaf.
    @usableFromInline
    @inline(never)
    final func locateColumn(_ key: UInt32) -> ColumnSlot {
        readableAccessor._withUnsafeGuaranteedRef { $0.slot(key, of: self) }
    }

    /// Reads an integer after a change of version or leaf.
    @usableFromInline
    @inline(never)
    final func readIntegerSlowly(_ key: UInt32) -> Int64 {
        readableAccessor._withUnsafeGuaranteedRef { $0.slot(key, of: self) }.integer(rowIndex)
    }

    /// The column view of a property whose values are not read inline.
    @inline(__always)
    final func view(_ key: UInt32) -> ColumnView {
        readableAccessor._withUnsafeGuaranteedRef { $0.view(key, of: self) }
    }

    /// The bytes of a value; nil where a migration meets damage.
    final func readBytes(_ view: ColumnView, _ row: Int) -> UnsafeRawBufferPointer? {
        do {
            return try view.bytes(row)
        } catch {
            guard let core else { trap(error) }
            core.keep(error)
            return nil
        }
    }

    @usableFromInline
    final func readString(_ key: UInt32) -> String? {
        let view = view(key)
        let row = rowIndex
        if view.isNull(row) { return nil }
        guard let bytes = readBytes(view, row) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Describes a property for messages.
    @usableFromInline
    final func propertyDescription(_ key: UInt32) -> String {
        guard let accessor = tableAccessor else { return "\(type(of: self))" }
        return "\(accessor.info.name).\(accessor.info.properties[Int(key) - 1].name)"
    }

    /// Where a write to a managed property goes, after the checks that every write makes; nil when the realm was closed.
    @usableFromInline
    final func writer(for key: UInt32) -> _RowWriter? {
        if core?.dropsWritesOfInvalidated ?? false { return nil }
        let accessor = checkedAccessor()
        if accessor.core.dropsWrites { return nil }
        if accessor.core.isFrozen {
            misuse("Attempting to modify a frozen object - call thaw on the Object instance first.")
        }
        if !accessor.core.isInWriteTransaction {
            misuse(
                "Attempting to modify object outside of a write transaction - make the change inside "
                    + "`try realm.write { }` or `try await realm.asyncWrite { }`."
            )
        }
        let ordinal = Int(key) - 1
        if accessor.info.properties[ordinal].isPrimaryKey, !accessor.core.releasePrimaryKey(of: accessor) {
            misuse(
                "Primary key can't be changed after an object is inserted: "
                    + "'\(accessor.info.name).\(accessor.info.properties[ordinal].name)'."
            )
        }
        guard refreshLocation(accessor) else { return nil }
        return _RowWriter(accessor: accessor, rowKey: rowKey, declared: ordinal, context: nil)
    }
}

extension ColumnSlot {
    /// The slot of a column view.
    init(_ view: ColumnView, leaf: UnsafeRawPointer?, generation: UInt64) {
        self.init(
            leaf: leaf,
            generation: generation,
            data: view.data,
            nulls: view.nulls,
            minimum: view.minimum,
            width: view.width
        )
    }
}
