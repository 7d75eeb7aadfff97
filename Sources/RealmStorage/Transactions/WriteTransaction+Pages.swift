/// What a write transaction does to pages: it takes, copies, seals and gives up runs.
extension WriteTransaction {
    /// Allocates a run of pages with its header written and the rest zeroed.
    ///
    /// A long run of a column that is named lies beside other runs of it, where there is room.
    package func allocate(
        pageCount: Int,
        kind: PageKind,
        level: Int = 0,
        beside column: ColumnStretches.Column? = nil
    ) throws(StorageError) -> MutablePage {
        let page = try allocateUnfilled(pageCount: pageCount, kind: kind, level: level, beside: column)
        page.clear(PageHeader.byteCount..<page.byteCount)
        return page
    }

    /// The same with anything behind the header: the caller fills every byte of it, since all of them come to the file.
    func allocateUnfilled(
        pageCount: Int,
        kind: PageKind,
        level: Int = 0,
        beside column: ColumnStretches.Column? = nil
    ) throws(StorageError) -> MutablePage {
        let page = try takeRun(pageCount, isLasting: kind.isLasting, beside: column)
        page.clear(0..<PageHeader.byteCount)
        page.bytes.storeLittle(page.reference.page, at: PageHeader.pageOffset)
        page.bytes.storeLittle(page.reference.pageCount, at: PageHeader.pageCountOffset)
        page.bytes.storeLittle(stamp, at: PageHeader.versionOffset)
        page.bytes.storeLittle(kind.rawValue, at: PageHeader.kindOffset)
        page.bytes.storeLittle(UInt8(level), at: PageHeader.levelOffset)
        return page
    }

    /// The run as this transaction's own: itself when it is already, else a copy, the old run being given up.
    ///
    /// What earlier members of the group left is copied as well, so that it is as they left it when this one is rolled back.
    package func writable(_ reference: PageReference) throws(StorageError) -> MutablePage {
        if let stamp = ownStamp(reference) {
            let bytes = view.buffer(of: reference.page)
            guard stamp != self.stamp else {
                group.forgetSeal(of: reference)
                let own = PageReference(page: reference.page, pageCount: reference.pageCount, checksum: 0)
                return MutablePage(reference: own, bytes: bytes)
            }
            let copy = try copy(of: UnsafeRawPointer(bytes), reference.pageCount, isLasting: false)
            giveUp(Extent(page: reference.page, pageCount: reference.pageCount), stamp: stamp)
            return copy
        }
        let source = try view.pointer(to: reference)
        let birth = source.little(UInt64.self, at: PageHeader.versionOffset)
        // What has not been written to for long will not be soon.
        let copy = try copy(of: source, reference.pageCount, isLasting: birth < state.settledVersion)
        free(reference)
        return copy
    }

    private func copy(
        of source: UnsafeRawPointer,
        _ pageCount: UInt32,
        isLasting: Bool
    ) throws(StorageError) -> MutablePage {
        let copy = try takeRun(Int(pageCount), isLasting: isLasting)
        copy.bytes.copyMemory(from: source, byteCount: copy.byteCount)
        copy.bytes.storeLittle(copy.reference.page, at: PageHeader.pageOffset)
        copy.bytes.storeLittle(stamp, at: PageHeader.versionOffset)
        return copy
    }

    /// An unsealed run of the group, to store the checksums of what it refers to before it is sealed itself.
    ///
    /// A group of which something is sealed is sealed whole, or lost: whose run it is does not matter, but a rollback has to know.
    func sealable(_ reference: PageReference) throws(StorageError) -> UnsafeMutableRawPointer {
        guard let stamp = ownStamp(reference) else {
            throw .corrupt("A page that is not sealed is no transaction's", page: reference.page, path: file.path)
        }
        // What settles is the group's at once, and a sealer has the number of the last member.
        if isJoined, !isSettling, stamp != version || isSealer { group.isSealedInPart = true }
        return view.buffer(of: reference.page)
    }

    /// Gives a run back: this transaction's own for use at once, an older one for when no reader needs it any more.
    package func free(_ reference: PageReference) {
        if reference.isNone { return }
        let extent = Extent(page: reference.page, pageCount: reference.pageCount)
        if let stamp = ownStamp(reference) {
            group.forgetSeal(of: reference)
            giveUp(extent, stamp: stamp)
            return
        }
        let source = try? view.pointer(to: reference)
        // Whatever is given up may be written over: it must be there, and nothing else may be known to be in its place. What the
        // group wrote to the file early is no older version's.
        if source == nil, !isFree(ofOthers: extent) || group.hasSpilled && group.hasTaken(extent) {
            group.noteDamage("A run of pages that is given up is not there", page: reference.page)
            return
        }
        // The birth only widens the stretch of versions that hold the page back, so a page that cannot be read counts
        // as born at the beginning.
        let birth = source.map { $0.little(UInt64.self, at: PageHeader.versionOffset) } ?? 0
        if birth >= group.firstVersion {
            // The group's own, written to the file early.
            if group.hasSpilled, group.hasTaken(extent) {
                giveUp(extent, stamp: birth)
            } else {
                group.noteDamage("A page says that a later version wrote it", page: reference.page)
            }
            return
        }
        let retired = RetiredExtent(extent: extent, birth: birth, death: group.firstVersion)
        if isSettling || isAbsorbed {
            group.retired.append(retired)
        } else {
            changed.retired.append(retired)
        }
    }

    /// Whether pages lie in the file, and no run that this process knows begins there.
    private func isFree(ofOthers extent: Extent) -> Bool {
        guard Int(extent.page) >= FileHeader.slotPageCount, extent.pageCount > 0,
            Int(extent.page) + Int(extent.pageCount) <= pageCount
        else { return false }
        return !reservation.isKnown(Int(extent.page))
    }

    /// Gives up a run of the group.
    private func giveUp(_ extent: Extent, stamp: UInt64) {
        if stamp != version, isSettling {
            group.settled.append(extent)
        } else if !isAbsorbed, stamp != version && isJoined || isSettling {
            changed.givenUp.append(extent)
        } else {
            group.giveBack(extent, in: reservation)
        }
    }

    /// Computes a dirty run's checksum and returns the sealed reference; a sealed reference is returned as it is.
    package func seal(_ reference: PageReference) -> PageReference {
        guard reference.isDirty else { return reference }
        let bytes = view.buffer(of: reference.page)
        let checksum = PageChecksum.of(bytes, byteCount: Int(reference.pageCount) * pageByteCount)
        let run = PreparedCommit.Run(page: reference.page, pageCount: reference.pageCount, checksum: checksum)
        if isSettling || isAbsorbed {
            group.sealed.append(run)
        } else {
            changed.sealed.append(run)
        }
        group.noteSeal(of: run)
        reservation.setSeal(of: Int(reference.page), to: checksum)
        return PageReference(page: reference.page, pageCount: reference.pageCount, checksum: checksum)
    }

    /// The stamp of new pages: what settles belongs to the members before this one.
    private var stamp: UInt64 { isSettling ? version - 1 : version }

    /// The version stamp of a run that belongs to the group; nil for another one.
    private func ownStamp(_ reference: PageReference) -> UInt64? {
        let page = Int(reference.page)
        guard page < reservation.pageCapacity, let bytes = reservation.buffer(of: page),
            // A damaged file may refer to any page.
            UnsafeRawPointer(bytes).little(UInt32.self, at: PageHeader.pageCountOffset) == reference.pageCount,
            reference.checksum == 0 || reservation.seal(of: page) == reference.checksum
        else { return nil }
        let stamp = UnsafeRawPointer(bytes).little(UInt64.self, at: PageHeader.versionOffset)
        return stamp >= group.firstVersion ? stamp : nil
    }

    /// Takes a run that was to spare when the transaction began, and is still, for what others left.
    ///
    /// It must not be a page that the rollback would give back. Where nothing is owed, members are few.
    private func takeSettledSpare(_ pageCount: UInt32) -> PageNumber? {
        guard group.owedCount > 0, let page = changed.spare.next(pageCount), page == group.spare.next(pageCount) else {
            return nil
        }
        _ = changed.spare.take(pageCount)
        return group.spare.take(pageCount)
    }

    /// Takes a long run beside others of its column; nil where it goes wherever there is room.
    private func takeRun(_ count: UInt32, beside column: ColumnStretches.Column) -> PageNumber? {
        // Members take and give back on their own account. What is owed has its pages in the length that the file has, and what is
        // replayed may be on a full disk. A file that is being made smaller has no room ahead.
        guard count >= ColumnStretches.leastRunPageCount, !isJoined, !isSettling, recording != .replay,
            group.owedCount == 0, state.space.placementLimit == nil
        else { return nil }
        if let page = group.stretches.take(count, of: column) { return page }
        guard group.spare.next(count) == nil, let stretchCount = group.stretches.pageCount(for: count, of: column),
            Int(state.space.pageCount) + Int(stretchCount) <= min(reservation.pageCapacity, Int(UInt32.max) - 1),
            let page = state.space.allocateStretch(stretchCount)
        else {
            group.stretches.note(count, of: column)
            return nil
        }
        let stretch = Extent(page: page, pageCount: stretchCount)
        group.take(stretch)
        group.stretches.keep(stretch, for: column)
        return group.stretches.take(count, of: column)
    }

    /// Has what is left of the stretches of a table be there for any run, before it goes on.
    func leaveRooms(of owner: ObjectIdentifier) { group.stretches.leaveRooms(of: owner) }

    /// Notes that only so many new clusters of a table are still to be written: no more room is taken ahead than these need.
    func noteLast(_ clusterCount: Int, of owner: ObjectIdentifier) {
        group.stretches.noteLast(clusterCount, of: owner)
    }

    /// Whether long columns have runs from which stretches may begin.
    var hasLongColumns: Bool { !group.stretches.isEmpty }

    /// Has what is left of the stretches of a table be there for any run, at its end.
    func endStretches(of owner: ObjectIdentifier) { group.stretches.end(of: owner) }

    /// Takes a run from the free space, or one that was given back; `isLasting` says that it will probably be in use for
    /// many commits.
    private func takeRun(
        _ pageCount: Int,
        isLasting: Bool,
        beside column: ColumnStretches.Column? = nil
    ) throws(StorageError) -> MutablePage {
        try reservation.failures?.step(.pageMemory, path: file.path)
        let count = UInt32(pageCount)
        let page: PageNumber
        if let column, let first = takeRun(count, beside: column) {
            page = first
        } else if let spare = isSettling ? takeSettledSpare(count) : group.spare.take(count) {
            page = spare
        } else if !isJoined, !isSettling, let rest = group.stretches.takeRest(count) {
            page = rest
        } else {
            // A few only: many would scatter a large commit.
            let isLasting = isLasting && group.lastingCount < 8
            let end = state.space.pageCount
            // No header counts more pages.
            let capacity = min(reservation.pageCapacity, Int(UInt32.max) - 1)
            guard Int(end) + pageCount <= capacity || state.space.freePageCount > 0 else { throw file.outgrown }
            if isLasting { group.lastingCount += 1 }
            // What is owed has its pages made in the length that the file has.
            let endLimit = group.owedCount > 0 ? PageNumber(clamping: file.byteCount / pageByteCount) : .max
            page = state.space.allocate(count, isLasting: isLasting, endLimit: endLimit)
            guard Int(page) + pageCount <= capacity else {
                // It is behind the end: nothing of it may be noted, there are no words for its pages.
                state.space.resetEnd(to: end)
                throw file.outgrown
            }
            let extent = Extent(page: page, pageCount: count)
            group.take(extent)
            if isJoined, !isSettling { changed.taken.append(extent) }
        }
        guard let bytes = reservation.makeBuffer(page: Int(page), pageCount: pageCount) else {
            group.spare.insert(Extent(page: page, pageCount: count))
            throw file.outgrown
        }
        return MutablePage(reference: PageReference(page: page, pageCount: count, checksum: 0), bytes: bytes)
    }
}
