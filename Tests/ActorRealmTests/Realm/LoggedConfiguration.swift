import RealmStorage

@testable import ActorRealm

extension Realm.Configuration {
    /// Keeps a log from an early commit on, whose space is there at once.
    ///
    /// - Parameters:
    ///   - pageCommitCount: So many commits come before it.
    ///   - ringByteCount: Its length.
    ///   - holdsPages: Whether pages stay in memory, and are brought to the file by a thread.
    mutating func keepLog(behind pageCommitCount: Int = 0, ringByteCount: Int? = nil, holdsPages: Bool = true) {
        keepsLog = true
        adjustLog = { log in
            log.pageCommitCount = pageCommitCount
            log.holdsPages = holdsPages
            if let ringByteCount { log.ringByteCount = ringByteCount }
            let run = log.runBeside
            log.runBeside = { work, body in
                if work == .space { body() } else { run(work, body) }
            }
        }
    }
}
