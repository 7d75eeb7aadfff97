import Foundation
import RealmTestSupport
import Testing

/// The main thread of a program that has no task belongs to the main actor; whole programs show it, since tests run in tasks.
@Suite("A synchronous program's main thread is the main actor's", .timeLimit(.minutes(60)))
struct SynchronousProgramTests {
    @Test("with a run loop, realms opened there observe, write asynchronously and follow the file")
    func runLoop() throws {
        let (status, output) = try run("run-loop")
        #expect(status == 0, "\(output)")
        #expect(output == "observed\nwritten\nfollowed\nas tests do\ndone\n")
    }

    @Test("with dispatchMain() they go on though the first thread has ended")
    func dispatchMain() throws {
        let (status, output) = try run("dispatch-main")
        #expect(status == 0, "\(output)")
        #expect(output == "done\n")
    }

    private func run(_ kind: String) throws -> (Int32, String) {
        let directory = TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("synchronous-program")
        process.arguments = [kind, directory.path("program.realm")]
        // A file and not a pipe, whose other end processes that other tests spawn would keep open.
        let path = directory.path("output")
        try Data().write(to: URL(fileURLWithPath: path))
        let output = try #require(FileHandle(forWritingAtPath: path))
        process.standardOutput = output
        process.standardError = output
        try process.run()
        process.waitUntilExit()
        try output.close()
        return (process.terminationStatus, try String(contentsOfFile: path, encoding: .utf8))
    }
}
