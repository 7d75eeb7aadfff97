import RealmStorage
import Synchronization

/// What the project's own tools ask of logs; none of it is a part of the library's interface.
extension Realm {
    /// How realms keep commits whose configuration says nothing of it: `off`, `log` or `ondemand`.
    ///
    /// It is what the variable `ACTOR_REALM_LOG` of the environment says; `ondemand` without the variable.
    ///
    /// - Returns: The word.
    /// - Throws: `invalidInput` where the variable has another word, which realms take for none.
    @_spi(Tools)
    public static func logMode() throws(Realm.Error) -> String {
        do throws(StorageError) {
            return try LogMode.stated().rawValue
        } catch {
            throw Realm.Error(storage: error)
        }
    }
}

extension Realm.Configuration {
    /// A time that passes only while a writer pauses.
    private final class StillTime: Sendable {
        private let nanoseconds = Atomic<UInt64>(1_000_000_000_000)

        var now: UInt64 { nanoseconds.load(ordering: .relaxed) }

        func pass(_ pause: UInt64) { nanoseconds.wrappingAdd(pause, ordering: .relaxed) }
    }

    private mutating func changeLog(_ change: @escaping @Sendable (inout LogOptions) -> Void) {
        let before = adjustLog
        adjustLog = { log in
            before?(&log)
            change(&log)
        }
    }

    /// Has the log be made early, and be short, so that short campaigns meet all that becomes of one; where there is one.
    ///
    /// - Parameters:
    ///   - pageCommitCount: So many commits are kept as pages before the log is made.
    ///   - ringByteCount: The length of the log, a multiple of 4,096.
    package mutating func shortenLog(pageCommitCount: Int, ringByteCount: Int) {
        changeLog { log in
            log.pageCommitCount = pageCommitCount
            log.ringByteCount = ringByteCount
        }
    }

    /// Keeps a log, whatever the environment says.
    ///
    /// - Parameter isOnDemand: Whether pages are made on demand, and not in each commit.
    @_spi(Tools)
    public mutating func keepLog(pagesOnDemand isOnDemand: Bool) {
        keepsLog = true
        changeLog { $0.pagesOnDemand = isOnDemand }
    }

    /// Keeps no log, whatever the environment says.
    @_spi(Tools)
    public mutating func keepNoLog() { keepsLog = false }

    /// Has the log be there from the first commit with a record on, which waits for its space; where there is one.
    ///
    /// - Parameters:
    ///   - ringByteCount: The length of the log, a multiple of 4,096 and at most 1 GiB; nil for that of a program.
    ///   - makesCheckpoints: Whether checkpoints are made beside commits, and the log ends when nobody writes. Else a checkpoint is made only
    ///     where the log is full, and the log ends with a close.
    @_spi(Tools)
    public mutating func beginLogAtOnce(ringByteCount: Int? = nil, makingCheckpoints makesCheckpoints: Bool = true) {
        changeLog { log in
            log.pageCommitCount = 0
            if let ringByteCount { log.ringByteCount = ringByteCount }
            let run = log.runBeside
            log.runBeside = { work, body in
                switch work {
                case .space: body()
                case .checkpoint, .end: if makesCheckpoints { run(work, body) }
                }
            }
        }
    }

    /// Has no time pass between two writes, so that what they do does not go by how fast they are, which counting makes slow.
    ///
    /// Nothing happens by itself behind the last write then.
    @_spi(Tools)
    public mutating func stopClock() {
        let time = StillTime()
        clock.now = { time.now }
        clock.pause = { time.pass($0) }
        clock.wake = { _, _ in true }
        clock.wakeSoon = { _, _ in true }
    }
}
