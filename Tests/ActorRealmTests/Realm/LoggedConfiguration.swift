import Foundation
import RealmStorage

@testable import ActorRealm

extension Realm.Configuration {
    /// Keeps a log from an early commit on, whose space is there at once.
    ///
    /// Without a `patience` nothing is done behind the last commit: in a test that counts steps, or looks at what is there, it would come
    /// at some moment. With one the log does not end either until the close.
    ///
    /// Commits are left without pages where the environment asks for that (`ACTOR_REALM_LOG=ondemand`), unless the test says something else.
    mutating func keepLog(
        behind pageCommitCount: Int = 0,
        ringByteCount: Int? = nil,
        patience: Duration? = nil
    ) {
        keepsLog = true
        adjustLog = { log in
            log.pageCommitCount = pageCommitCount
            if let ringByteCount { log.ringByteCount = ringByteCount }
            if let patience {
                log.checkpointPatience = UInt64(patience / Duration.nanoseconds(1))
                log.notePatience = log.checkpointPatience / 4
                log.endPatience = nil
            } else {
                log.clock = nil
            }
            let run = log.runBeside
            log.runBeside = { work, body in
                if work == .space { body() } else { run(work, body) }
            }
        }
    }
}
