/// What a member of a group puts back when it is rolled back: everything as the members before it left it.
///
/// While what these left is being settled, what happens is theirs, and stays.
final class GroupSavepoint {
    private let group: WriterGroup
    private let reservation: Reservation
    private let spareSingles: [PageNumber]
    private let spareRuns: [Extent]
    /// So many of the group's lists are of members before this one.
    private var retiredCount: Int
    private var sealedCount: Int
    /// Taken from the free space by this member.
    private var taken: [Extent] = []
    /// Pages of earlier members that this one gave up: they may be wanted back.
    private var givenUp: [Extent] = []
    /// Pages of earlier members that were given up for good.
    private var settled: [Extent] = []
    /// Pages of earlier members as they were before this one wrote to them.
    private var images: [Image] = []

    private struct Image {
        let page: PageNumber
        let pageCount: UInt32
        let seal: UInt64
        let bytes: UnsafeMutableRawPointer
    }

    init(of group: WriterGroup, in reservation: Reservation) {
        self.group = group
        self.reservation = reservation
        spareSingles = group.spareSingles
        spareRuns = group.spareRuns
        retiredCount = group.retired.count
        sealedCount = group.sealed.count
    }

    deinit {
        dropImages()
    }

    // MARK: What this member does

    /// Notes pages that this member took from the free space.
    func noteTaken(_ extent: Extent) { taken.append(extent) }

    /// Notes pages of an earlier member that this one gives up.
    func noteGivenUp(_ extent: Extent) { givenUp.append(extent) }

    /// Keeps a page of an earlier member as it is, before this one writes to it.
    func keepImage(of page: MutablePage) {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: page.byteCount, alignment: 8)
        copy.copyMemory(from: page.bytes, byteCount: page.byteCount)
        let number = page.reference.page
        let seal = reservation.seal(of: Int(number))
        images.append(Image(page: number, pageCount: page.reference.pageCount, seal: seal, bytes: copy))
    }

    // MARK: What settles

    /// Notes pages of an earlier member that are given up for good.
    func noteSettled(_ extent: Extent) { settled.append(extent) }

    /// Adds a run of an older version that is given up for good.
    func retire(_ extent: RetiredExtent) {
        group.retired.insert(extent, at: retiredCount)
        retiredCount += 1
    }

    /// Adds a run that is sealed for good.
    func seal(_ run: PreparedCommit.Run) {
        group.sealed.insert(run, at: sealedCount)
        sealedCount += 1
    }

    // MARK: The end

    /// Gives back the pages of earlier members that this one gave up, now that it is certain.
    func commit() {
        if givenUp.isEmpty, settled.isEmpty { return }
        for extent in givenUp + settled {
            reservation.dropBuffers(page: Int(extent.page), pageCount: Int(extent.pageCount))
            group.giveBack(extent)
        }
        givenUp = []
        settled = []
    }

    /// Puts back what earlier members had; false when there is no memory for it.
    func restore() -> Bool {
        group.retired.removeSubrange(retiredCount...)
        group.sealed.removeSubrange(sealedCount...)
        group.spareSingles = spareSingles
        group.spareRuns = spareRuns
        for extent in taken + settled { group.giveBack(extent) }
        for extent in group.spare {
            reservation.dropBuffers(page: Int(extent.page), pageCount: Int(extent.pageCount))
            group.forgetSeal(of: PageReference(page: extent.page, pageCount: extent.pageCount, checksum: 0))
        }
        // Such a page may have been given up after it was written to, and even be in use for something else.
        for image in images {
            let page = Int(image.page)
            let pageCount = Int(image.pageCount)
            guard let bytes = reservation.buffer(of: page) ?? reservation.makeBuffer(page: page, pageCount: pageCount)
            else { return false }
            bytes.copyMemory(from: image.bytes, byteCount: pageCount * pageByteCount)
            reservation.setSeal(of: page, to: image.seal)
            // It stays in memory: what was sealed here was this member's.
            group.forgetSeal(of: PageReference(page: image.page, pageCount: image.pageCount, checksum: 0))
        }
        dropImages()
        return true
    }

    private func dropImages() {
        for image in images { image.bytes.deallocate() }
        images = []
    }
}

#if DEBUG
extension GroupSavepoint {
    /// The group still has what it had, and what is to be put back belongs to it.
    func checkInvariants() throws(BrokenInvariant) {
        if group.damage != nil { return }
        try Invariant.require(
            retiredCount <= group.retired.count,
            "The group has lost runs that earlier members gave up"
        )
        try Invariant.require(sealedCount <= group.sealed.count, "The group has lost sealed runs")
        for extent in taken + givenUp + settled {
            try Invariant.require(
                group.hasTaken(extent),
                "Page \(extent.page) is to be put back and is not the group's"
            )
        }
        for image in images {
            let extent = Extent(page: image.page, pageCount: image.pageCount)
            try Invariant.require(group.hasTaken(extent), "A page is kept that is not the group's: \(image.page)")
        }
    }
}
#endif
