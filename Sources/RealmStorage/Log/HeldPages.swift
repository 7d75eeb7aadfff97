/// Pages of commits that a log made durable, which stand in the memory of this process and not in the file.
///
/// Nobody else reads the file meanwhile: openings by other processes wait. Should this process die, whoever opens the file is alone, and
/// applies the log. A page that dies before the next checkpoint is never written.
///
/// A value that calls nothing but what it is given, so that tests walk through it.
struct HeldPages {
    /// A run that no version uses from some version on, and that readers of this process may still see.
    struct DeadRun {
        var run: PreparedCommit.Run
        var versions: Range<UInt64>
    }

    /// The most pages that are held.
    static let pageLimit = 4096
    /// How long openings are let through before they wait again.
    static let openNanoseconds: UInt64 = 5_000_000

    /// The runs that the newest version uses, by their first page.
    private(set) var live: [PageNumber: PreparedCommit.Run] = [:]
    private(set) var dead: [PageNumber: DeadRun] = [:]
    private(set) var pageCount = 0
    /// Whether openings by other processes wait.
    private(set) var isShut = false
    /// How many others have them wait, whatever is held.
    private(set) var otherReasons = 0
    /// Whether a commit is under way whose pages will be held.
    private(set) var isExpecting = false
    /// Whether nothing more is held, until openings were let through.
    private(set) var isEnding = false
    /// The commits whose pages were held.
    private(set) var commitCount: UInt64 = 0
    private var openedAt: UInt64 = 0
    /// Whether somebody waits for a quiet moment.
    private var isAwaited = false

    /// Decides, before a commit is made durable, whether its pages are to be held.
    ///
    /// - Parameters:
    ///   - count: The number of its pages.
    ///   - now: The monotonic nanosecond.
    ///   - shut: Has openings wait, where no other process has the file; false where one has.
    /// - Returns: Whether they are; then ``add(_:)`` or ``abandon()`` follows.
    mutating func expect(pages count: Int, at now: UInt64, _ shut: () -> Bool) -> Bool {
        guard !isEnding, pageCount + count <= Self.pageLimit else { return false }
        if !isShut {
            guard now &- openedAt >= Self.openNanoseconds, otherReasons > 0 || shut() else { return false }
            isShut = true
        }
        isExpecting = true
        return true
    }

    /// Holds the pages of the commit that was expected, which is published now.
    mutating func add(_ runs: [PreparedCommit.Run]) {
        isExpecting = false
        commitCount += 1
        for run in runs {
            live[run.page] = run
            pageCount += Int(run.pageCount)
        }
    }

    /// Notes that the commit that was expected failed.
    mutating func abandon() { isExpecting = false }

    /// Notes runs that the newest version does not use any more.
    mutating func retire(_ runs: [RetiredExtent]) {
        if live.isEmpty { return }
        for retired in runs {
            guard let run = live.removeValue(forKey: retired.extent.page) else { continue }
            dead[run.page] = DeadRun(run: run, versions: retired.birth..<retired.death)
        }
    }

    /// Forgets runs whose pages may be used again: no version that anybody reads needs them.
    ///
    /// - Returns: These runs.
    mutating func reclaim(_ extents: [Extent]) -> [PreparedCommit.Run] {
        if dead.isEmpty { return [] }
        var runs: [PreparedCommit.Run] = []
        for extent in extents {
            for page in extent.page..<extent.end {
                guard let held = dead.removeValue(forKey: page) else { continue }
                pageCount -= Int(held.run.pageCount)
                runs.append(held.run)
            }
        }
        return runs
    }

    /// Forgets runs that stand in the file now.
    mutating func remove(_ runs: [PreparedCommit.Run]) {
        for run in runs {
            if let held = live[run.page], held.checksum == run.checksum {
                live[run.page] = nil
            } else if let held = dead[run.page], held.run.checksum == run.checksum {
                dead[run.page] = nil
            } else {
                continue
            }
            pageCount -= Int(run.pageCount)
        }
    }

    /// What must come to the file before other processes may open it: what the newest version uses, and what readers of this process see.
    func needed(by versions: [UInt64]) -> [PreparedCommit.Run] {
        var runs = Array(live.values)
        for run in dead.values where versions.contains(where: run.versions.contains) { runs.append(run.run) }
        runs.sort { $0.page < $1.page }
        return runs
    }

    /// Has nothing more be held until openings were let through.
    mutating func end() { if isShut { isEnding = true } }

    /// Lets openings through when nothing is held that anybody needs.
    ///
    /// - Parameters:
    ///   - now: The monotonic nanosecond.
    ///   - versions: What readers of this process stand at; no version is published meanwhile.
    ///   - letThrough: Does so.
    /// - Returns: The dead runs that nobody needs, to be forgotten; nil when openings have to wait still.
    mutating func open(
        at now: UInt64,
        readers versions: [UInt64],
        _ letThrough: () -> Void
    ) -> [PreparedCommit.Run]? {
        guard isShut else { return [] }
        guard !isExpecting, needed(by: versions).isEmpty else { return nil }
        let left = dead.values.map(\.run)
        dead = [:]
        pageCount = 0
        isShut = false
        isEnding = false
        isAwaited = false
        openedAt = now
        if otherReasons == 0 { letThrough() }
        return left
    }

    /// Lets openings through though what is held could not be brought to the file.
    mutating func giveUp(_ letThrough: () -> Void) {
        guard isShut else { return }
        isShut = false
        if otherReasons == 0 { letThrough() }
    }

    /// Whether somebody is to begin to wait for a quiet moment; once, until openings were let through.
    mutating func beginsWaiting() -> Bool {
        guard isShut, !isAwaited else { return false }
        isAwaited = true
        return true
    }

    /// Has pages be held though openings were let through a moment ago; for tests.
    mutating func forgetOpening() { openedAt = 0 }

    /// Counts one more who has openings wait, or one less.
    mutating func countOther(_ change: Int, _ act: () -> Bool) -> Bool {
        if change > 0 {
            guard isShut || otherReasons > 0 || act() else { return false }
        } else if otherReasons == 1, !isShut {
            _ = act()
        }
        otherReasons = max(0, otherReasons + change)
        return true
    }
}
