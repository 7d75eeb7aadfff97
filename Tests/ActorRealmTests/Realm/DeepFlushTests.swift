import RealmStorage
import Testing

@testable import ActorRealm

/// What a block commits in the background, and what it saw, is one flush: how it ends must not take stack for each of them.
@Suite("A block that commits or cancels very often", .timeLimit(.minutes(60)))
struct DeepFlushTests {
    @Test("may lose all that")
    func lost() async {
        await #expect(processExitsWith: .success) {
            let first = BaseFlush()
            var all = first
            for _ in 0..<500_000 { all = all.followed(by: BaseFlush()) }
            first.end(.failure(StorageError(.full, "There is no space left")))
            #expect(all.isLost)
        }
    }

    /// { beginWrite(); cancelWrite() } in a loop, while one flush of others is under way behind one that has ended.
    @Test("may have seen one flush each time")
    func same() async {
        await #expect(processExitsWith: .success) {
            let before = BaseFlush(.success(nil))
            let flush = BaseFlush()
            var all = before
            for _ in 0..<500_000 { all = all.followed(by: flush) }
            flush.end(.success(nil))
            #expect(!all.isLost)
        }
    }
}
