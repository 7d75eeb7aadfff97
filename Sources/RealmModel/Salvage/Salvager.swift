import OrderedCollections
package import RealmStorage

/// Copies what is readable of a damaged file, row by row, to a new one; indexes and backlinks are made anew.
package final class Salvager {
    private let source: DamagedFile
    private let destination: StorageFile
    private let model: ModelView
    private let catalog: DamagedCatalog
    private var report: SalvageReport
    private var damagedPages: Set<PageNumber> = []
    private var operations = 0
    /// The runs that the pass over all rows has come to: what several rows share is copied once.
    private var visited = VisitedPages()
    /// The columns of the leaf at hand that cannot be read, and the values.
    private var refusedColumns: Set<Int> = []
    private var refusedValues: Set<ValuePlace> = []

    private struct ValuePlace: Hashable {
        var column: Int
        var row: Int
    }

    private init(
        _ source: DamagedFile,
        _ catalog: DamagedCatalog,
        _ log: SalvagedLog,
        to destination: StorageFile
    ) throws {
        self.source = source
        self.destination = destination
        self.catalog = catalog
        model = try ModelView(snapshot: destination.beginRead())
        report = SalvageReport()
        report.version = (log.root ?? source.roots[0]).version
        report.log = log.report
        report.namelessTables = catalog.namelessTables
        damagedPages = catalog.damagedPages.union(source.damagedHeaderPages)
    }

    /// Salvages a file, with what its log holds behind it.
    ///
    /// - Parameters:
    ///   - source: The damaged file.
    ///   - destination: A new file, whose write lock the caller holds.
    /// - Returns: what was copied and what was lost.
    /// - Throws: `StorageError` when nothing at all can be read, or the new file cannot be written.
    package static func salvage(_ source: DamagedFile, to destination: StorageFile) throws -> SalvageReport {
        let log = SalvagedLog(of: source)
        // Its pages are read until the end.
        defer { log.end() }
        let catalog = try DamagedCatalog(of: source, behind: log.root)
        let declared = catalog.declaredSchema
        let transaction = try destination.beginWrite()
        do {
            try SchemaReconciler.apply(SchemaReconciler.plan(stored: nil, declared: declared), in: transaction)
            try destination.publish([transaction.prepareCommit()])
        } catch {
            transaction.rollback()
            throw error
        }
        return try Salvager(source, catalog, log, to: destination).run()
    }

    private func run() throws -> SalvageReport {
        try model.begin(destination.beginWrite())
        do {
            for item in catalog.tables { try copyRows(item) }
            visited = VisitedPages()
            for index in catalog.tables.indices { try copyLinks(catalog.tables[index], into: index) }
            try commit()
        } catch {
            model.rollback()
            throw error
        }
        source.checkLog { damagedPages.insert($0) }
        // Indexes are made anew; what is damaged in them is told all the same.
        for item in catalog.tables {
            for root in item.trees {
                ByteTree(root: root)
                    .salvage(in: source.view, entry: { _, _ in }, damage: { page, _ in damagedPages.insert(page) })
            }
        }
        // Where that is the whole reason why the file cannot be opened, the page that opening names.
        if damagedPages.isSubset(of: source.damagedHeaderPages), let page = source.refusedPage {
            damagedPages.insert(page)
        }
        report.damagedPages = damagedPages.sorted()
        return report
    }

    private func commit() throws {
        try destination.publish([model.prepareCommit()])
        try model.endTransaction(advancingTo: destination.beginRead())
        operations = 0
    }

    /// Begins another transaction now and then, so that memory stays bounded.
    private func count() throws {
        operations += 1
        guard operations > 20_000 else { return }
        try commit()
        try model.begin(destination.beginWrite())
    }

    // MARK: Rows

    private func copyRows(_ item: DamagedCatalog.Table) throws {
        var result = SalvageReport.ClassReport(name: item.schema.name)
        defer { report.classes.append(result) }
        result.propertiesLost = item.lostProperties
        guard let clusters = item.clusters, let target = try model.table(named: item.schema.name) else {
            result.isTableLost = true
            return
        }
        target.acceptsLongKeys = true
        try clusters.salvage(in: source.view) { leaf in
            try copyRows(of: leaf, item, to: target, &result)
        } damage: { page, rows in
            damagedPages.insert(page)
            result.rowsLost += rows
        }
    }

    private func copyRows(
        of leaf: LeafView,
        _ item: DamagedCatalog.Table,
        to target: TableView,
        _ result: inout SalvageReport.ClassReport
    ) throws {
        claim(leaf)
        for row in 0..<leaf.rowCount {
            let key = leaf.key(at: row)
            guard key >= target.nextKey, key < .max else {
                result.rowsLost += 1
                continue
            }
            var primaryKey: StoredValue?
            if let ordinal = item.schema.primaryKeyOrdinal {
                primaryKey = value(ordinal, item, leaf, row)
                guard let value = primaryKey, !value.isNull || item.schema.properties[ordinal].isOptional else {
                    result.rowsLost += 1
                    result.valuesLost[item.schema.properties[ordinal].name, default: 0] += 1
                    continue
                }
            }
            try target.openWriter().rows.skipKeys(to: key)
            do {
                _ = try target.insert(primaryKey: primaryKey)
            } catch is ModelError {
                result.rowsLost += 1
                continue
            }
            result.rowsCopied += 1
            for (ordinal, property) in item.schema.properties.enumerated()
            where property.isStored && !property.isPrimaryKey && !property.makesLinks {
                guard let place = target.schema.ordinal(of: property.name) else { continue }
                let isWhole =
                    property.collection == .none
                    ? try copyValue(ordinal, item, leaf, row, to: target, place, key)
                    : try copyList(ordinal, item, leaf, row, to: target, place, key)
                if !isWhole { result.valuesLost[property.name, default: 0] += 1 }
            }
            try keepUnique(key, in: target, &result)
            try count()
        }
    }

    /// Takes back what a damaged file has twice although it is unique: a value where it may be null, else the row.
    private func keepUnique(
        _ key: Int64,
        in target: TableView,
        _ result: inout SalvageReport.ClassReport
    ) throws {
        while true {
            do {
                return try target.requireUnique(key: key)
            } catch ModelError.duplicateValue(_, let properties, _, _) {
                let optional = properties.compactMap { target.schema.ordinal(of: $0) }
                    .first { target.schema.properties[$0].isOptional }
                guard let optional else {
                    try target.deleteUnasked(key: key)
                    result.rowsCopied -= 1
                    result.rowsLost += 1
                    return
                }
                try target.setNull(optional, key: key)
                result.valuesLost[target.schema.properties[optional].name, default: 0] += 1
            }
        }
    }

    /// Notes the runs that a leaf refers to, and what of it cannot be read since another one has them.
    private func claim(_ leaf: LeafView) {
        refusedColumns.removeAll(keepingCapacity: true)
        refusedValues.removeAll(keepingCapacity: true)
        for index in 0..<leaf.columnCount {
            if let run = leaf.externalReference(index), !visited.claims(run, in: source.view) {
                damagedPages.insert(run.page)
                refusedColumns.insert(index)
                continue
            }
            guard let column = try? leaf.column(index), column.kind == .bytes else { continue }
            for row in 0..<column.count where column.isOverflow(row) {
                let run = column.overflowReference(row)
                if visited.claims(run, in: source.view) { continue }
                damagedPages.insert(run.page)
                refusedValues.insert(ValuePlace(column: index, row: row))
            }
        }
    }

    /// A single value; nil when it cannot be read.
    private func value(_ ordinal: Int, _ item: DamagedCatalog.Table, _ leaf: LeafView, _ row: Int) -> StoredValue? {
        let slot = item.slots[ordinal]
        guard let column = column(slot, leaf, row) else { return nil }
        do throws(StorageError) {
            let value = try TableView.value(slot, in: column, row: row)
            return value.isPlausible(slot.kind) ? StoredValue(value, kind: slot.kind) : nil
        } catch {
            note(error)
            return nil
        }
    }

    private func note(_ error: StorageError) {
        if let page = error.page { damagedPages.insert(page) }
    }

    private func column(_ slot: PropertySlot, _ leaf: LeafView, _ row: Int) -> ColumnView? {
        let index = Int(slot.column)
        if refusedColumns.contains(index) || refusedValues.contains(ValuePlace(column: index, row: row)) { return nil }
        do throws(StorageError) {
            let column = try leaf.column(index, isNullable: slot.isNullable)
            return column.isAbsent || column.kind.rawValue == slot.columnKindValue ? column : nil
        } catch {
            note(error)
            return nil
        }
    }

    private func copyValue(
        _ ordinal: Int,
        _ item: DamagedCatalog.Table,
        _ leaf: LeafView,
        _ row: Int,
        to target: TableView,
        _ place: Int,
        _ key: Int64
    ) throws -> Bool {
        let slot = item.slots[ordinal]
        guard let column = column(slot, leaf, row) else { return false }
        do {
            let value = try TableView.value(slot, in: column, row: row)
            guard !value.isNull || slot.isOptional, value.isPlausible(slot.kind) else { return false }
            try target.set(place, key: key, to: value)
            return true
        } catch let error as StorageError where error.code == .corrupt {
            note(error)
            return false
        } catch is ModelError {
            return false
        }
    }

    // MARK: Lists

    /// The elements of a list that can be read, and whether these are all.
    private func elements(
        _ slot: PropertySlot,
        _ leaf: LeafView,
        _ row: Int
    ) -> (values: [StoredValue], isWhole: Bool) {
        guard let column = column(slot, leaf, row) else { return ([], false) }
        let bytes: UnsafeRawBufferPointer
        do throws(StorageError) {
            bytes = try column.bytes(row)
        } catch {
            note(error)
            return ([], false)
        }
        guard let offset = ListFormat.rootOffset(in: bytes), let start = bytes.baseAddress else {
            var isWhole = true
            var values: [StoredValue] = []
            do {
                try ListView(bytes, slot: slot.elements, view: source.view)
                    .visit { value in
                        if value.isPlausible(slot.elements.kind) {
                            values.append(StoredValue(value, kind: slot.elements.kind))
                        } else {
                            isWhole = false
                        }
                    }
            } catch {
                isWhole = false
            }
            return (values, isWhole)
        }
        var values: [StoredValue] = []
        var isWhole = true
        let slot = slot.elements
        let width = ListFormat.width(of: slot.kind)
        SequenceTree(root: PageReference(load: start + offset))
            .salvage(in: source.view, &visited) { element in
                if let element,
                    let value = ListFormat.value(element, kind: slot.kind, width: width, isOptional: slot.isOptional),
                    value.isPlausible(slot.kind)
                {
                    values.append(StoredValue(value, kind: slot.kind))
                } else {
                    isWhole = false
                }
            } damage: { page, _ in
                damagedPages.insert(page)
                isWhole = false
            }
        return (values, isWhole)
    }

    private func copyList(
        _ ordinal: Int,
        _ item: DamagedCatalog.Table,
        _ leaf: LeafView,
        _ row: Int,
        to target: TableView,
        _ place: Int,
        _ key: Int64
    ) throws -> Bool {
        let (values, isWhole) = elements(item.slots[ordinal], leaf, row)
        return try store(values, item.slots[ordinal], to: target, place, key) && isWhole
    }

    /// Makes a collection of the elements that fit; whether all do.
    private func store(
        _ values: [StoredValue],
        _ slot: PropertySlot,
        to target: TableView,
        _ place: Int,
        _ key: Int64
    ) throws -> Bool {
        var isWhole = true
        if slot.collection == .map {
            var entries: [StoredEntry] = []
            for case .data(let bytes) in values {
                let entry = bytes.withUnsafeBytes { bytes -> StoredEntry? in
                    guard let entry = try? MapFormat.entry(bytes, slot), UTF8Validation.isValid(entry.key),
                        entry.value.isPlausible(slot.kind)
                    else {
                        return nil
                    }
                    return StoredEntry(
                        key: String(decoding: entry.key, as: UTF8.self),
                        value: StoredValue(entry.value, kind: slot.kind)
                    )
                }
                guard let entry, let value = try relinked(entry.value, slot, &isWhole), !value.isNull || slot.isOptional
                else {
                    isWhole = false
                    continue
                }
                entries.append(StoredEntry(key: entry.key, value: value))
            }
            if !entries.isEmpty { try target.mapAssign(place, key: key, entries) }
            return isWhole && entries.count == values.count
        }
        var fitting: [StoredValue] = []
        for value in values {
            guard let value = try relinked(value, slot, &isWhole), !value.isNull || slot.isOptional else {
                isWhole = false
                continue
            }
            fitting.append(value)
        }
        if fitting.isEmpty { return isWhole }
        if slot.collection == .set {
            try target.setAssign(place, key: key, fitting)
        } else {
            try target.listAssign(place, key: key, fitting)
        }
        return isWhole
    }

    /// A value whose links lead to rows of the new file; nil for a link whose target is lost.
    private func relinked(_ value: StoredValue, _ slot: PropertySlot, _ isWhole: inout Bool) throws -> StoredValue? {
        if case .link(let key) = value {
            guard let table = try salvagedTable(slot.targetTable), try table.contains(key: key) else {
                return slot.collection == .map ? .null : nil
            }
            return value
        }
        guard slot.kind == .any else { return value }
        return try value.replacingLinks { id, key in
            guard let table = try salvagedTable(id), try table.contains(key: key) else {
                isWhole = false
                return .null
            }
            return .anyLink(table: table.id, key: key)
        }
    }

    /// The new table of a class that had a number in the damaged file.
    private func salvagedTable(_ id: UInt32) throws -> TableView? {
        guard let item = catalog.tables.first(where: { $0.schema.tableID == id }) else { return nil }
        return try model.table(named: item.schema.name)
    }

    // MARK: Links

    /// Sets the links of a class, when the rows of all classes are there.
    private func copyLinks(_ item: DamagedCatalog.Table, into index: Int) throws {
        let links = item.schema.properties.enumerated().filter { $0.element.makesLinks && $0.element.isStored }
        guard !links.isEmpty, let clusters = item.clusters, let target = try model.table(named: item.schema.name)
        else { return }
        try clusters.salvage(in: source.view) { leaf in
            claim(leaf)
            for row in 0..<leaf.rowCount {
                let key = leaf.key(at: row)
                guard try target.contains(key: key) else { continue }
                for (ordinal, property) in links {
                    guard let place = target.schema.ordinal(of: property.name) else { continue }
                    let isWhole =
                        property.collection == .none
                        ? try copyLink(ordinal, item, leaf, row, to: target, place, key)
                        : try copyList(ordinal, item, leaf, row, to: target, place, key)
                    if !isWhole { report.classes[index].valuesLost[property.name, default: 0] += 1 }
                }
                try count()
            }
        } damage: { _, _ in
        }
    }

    private func copyLink(
        _ ordinal: Int,
        _ item: DamagedCatalog.Table,
        _ leaf: LeafView,
        _ row: Int,
        to target: TableView,
        _ place: Int,
        _ key: Int64
    ) throws -> Bool {
        guard let value = value(ordinal, item, leaf, row) else { return false }
        if value.isNull { return true }
        var isWhole = true
        guard let relinked = try relinked(value, item.slots[ordinal], &isWhole) else { return false }
        do {
            try target.set(place, key: key, to: relinked)
            return isWhole
        } catch is ModelError {
            return false
        }
    }
}
