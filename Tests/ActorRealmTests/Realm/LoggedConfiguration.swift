import RealmStorage

@testable import ActorRealm

extension Realm.Configuration {
    /// Keeps a log from an early commit on, whose space is there at once.
    mutating func keepLog(behind pageCommitCount: Int = 0, ringByteCount: Int? = nil) {
        keepsLog = true
        adjustLog = { log in
            log.pageCommitCount = pageCommitCount
            if let ringByteCount { log.ringByteCount = ringByteCount }
            let run = log.runBeside
            log.runBeside = { work, body in
                if work == .space { body() } else { run(work, body) }
            }
        }
    }
}
