import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A second process: a forked child that is told one byte at a time what to do next, and answers with one.
struct ForkedProcess {
    /// What the child has of the connection.
    struct Connection {
        fileprivate let input: Int32
        fileprivate let output: Int32

        /// The next byte from the other side; nil when that one is gone.
        func receive() -> UInt8? {
            var byte: UInt8 = 0
            while true {
                let count = read(input, &byte, 1)
                if count == 1 { return byte }
                if count == 0 || errno != EINTR { return nil }
            }
        }

        func send(_ byte: UInt8) {
            var byte = byte
            while write(output, &byte, 1) < 0 && errno == EINTR {}
        }
    }

    let process: pid_t
    let connection: Connection

    /// Forks a child that runs a function, on a thread of its own; one that throws ends with status 1.
    ///
    /// The thread that forks goes on in the child under the number that it had in the parent: Swift keeps it. A mutex that this thread has
    /// is then another process's to the system, and whoever waits for it is ended.
    init(_ body: (Connection) throws -> Void) throws {
        // What is sent to a child that is gone is not the end of the test.
        signal(SIGPIPE, SIG_IGN)
        var there: [Int32] = [0, 0]
        var back: [Int32] = [0, 0]
        try #require(pipe(&there) == 0 && pipe(&back) == 0)
        // Swift hides `fork`, for good reasons: most of what a program has does not work in a child.
        // Looked up before: a child that is forked while another thread does so would wait for ever.
        _ = Self.mayStartThreads
        _ = Self.knowsTypes
        let symbol = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork"))
        process = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
        if process == 0 {
            close(there[1])
            close(back[0])
            let connection = Connection(input: there[0], output: back[1])
            if Self.mayStartThreads { withoutActuallyEscaping(body) { Self.runOnThread($0, connection) } }
            Self.run(body, connection)
        }
        close(there[0])
        close(back[1])
        connection = Connection(input: back[0], output: there[1])
    }

    private final class Work {
        let run: () -> Void

        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// The thread sanitizer ends a child that starts one: there its only thread is the one that has forked.
    static let mayStartThreads = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "__tsan_init") == nil

    /// The runtime makes types when they are first used, under a lock that a child has for ever which was forked while another thread did so: those
    /// that children use are made before.
    private static let knowsTypes: Bool = {
        let folder = TemporaryDirectory()
        for isStepping in [true, false] {
            let options = LoggedFile.options(blocks: 64, stepping: isStepping)
            guard let file = try? StorageFile.open(path: folder.path("types.realm"), options: options),
                (try? file.lockForWriting()) != nil
            else { return false }
            for value in UInt64(1)...7 { try? LoggedFile.commit(file, 1, value) }
            file.unlockForWriting()
            file.beginCheckpoint()
            while file.takeCheckpointStep() {}
        }
        return true
    }()

    private static func run(_ body: (Connection) throws -> Void, _ connection: Connection) -> Never {
        do {
            try body(connection)
        } catch {
            FileHandle.standardError.write(Data("in the child: \(error)\n".utf8))
            _exit(1)
        }
        _exit(0)
    }

    private static func runOnThread(_ body: @escaping (Connection) throws -> Void, _ connection: Connection) -> Never {
        let work = Work { run(body, connection) }
        var thread = pthread_t()
        let start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
            Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().run()
            return nil
        }
        guard pthread_create(&thread, nil, start, Unmanaged.passRetained(work).toOpaque()) == 0 else { _exit(1) }
        pthread_join(thread, nil)
        _exit(1)
    }

    /// Tells the child to go on, and waits for its answer.
    @discardableResult
    func ask(_ byte: UInt8 = 1) -> UInt8? {
        connection.send(byte)
        return connection.receive()
    }

    func kill() { _ = Glibc.kill(process, SIGKILL) }

    /// Waits for the child's end, and returns its wait status.
    @discardableResult
    func end() -> Int32 {
        close(connection.output)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        close(connection.input)
        return status
    }
}
