import RealmTestSupport
import Testing

@testable import RealmStorage

/// How threads wait for the versions of other processes, when the file is closed meanwhile.
@Suite("Waiting for versions")
struct VersionSignalTests {
    private typealias Word = LockFileLayout.Word

    let folder = TemporaryDirectory()
    private var path: String { folder.path("a.realm") }

    private func word(_ offset: Int, of file: StorageFile?) throws -> UInt32 {
        try #require(file?.lock).memory.word32(offset).load(ordering: .relaxed)
    }

    @Test("A thread that was counted out does not sleep, though the file was closed and opened again meanwhile")
    func closedMeanwhile() throws {
        var file: StorageFile? = try StorageFile.open(path: path)
        let signal = try #require(file?.versionSignal)
        signal.beginWatching()
        let before = try word(Word.wake, of: file)
        var opened: StorageFile?
        var failure: (any Error)?
        // It has looked at the word, and asks whether it is to end just before that is so.
        _ = signal.waitForVersion(after: signal.newestVersion) {
            do {
                signal.endWatching()
                file = nil
                #expect(!StorageFile.isOpenAnywhere(path: path))
                opened = try StorageFile.open(path: path)
                let isWaitedFor = try word(Word.wake, of: opened) == before
                #expect(!isWaitedFor)
                return isWaitedFor
            } catch {
                failure = error
                return true
            }
        }
        if let failure { throw failure }
        // Nobody is counted who watched in the life before, and who watches now is.
        #expect(try word(Word.watcherCount, of: opened) == 0)
        let next = try #require(opened?.versionSignal)
        next.beginWatching()
        #expect(try word(Word.watcherCount, of: opened) == 1)
        next.endWatching()
        #expect(try word(Word.watcherCount, of: opened) == 0)
    }
}
