import Dispatch
import Foundation
import Glibc
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmStorage

/// Openings that use no log, of files that a kill has left with one: an opening that uses it comes first.
@Suite("Openings that use no log, beside one that holds newer commits", .serialized)
struct LogRecoveryTests {
    let folder = TemporaryDirectory()

    /// How a file is opened so.
    enum Way: CaseIterable {
        case forReadingOnly, withoutLog, unflushed

        func options(_ recorder: LoggedFile.Recorder? = nil) -> StorageOptions {
            var options = LoggedFile.options(recorder: recorder)
            switch self {
            case .forReadingOnly: options.isReadOnly = true
            case .withoutLog:
                options.recovery = options.log
                options.log = nil
            case .unflushed: options.durability = .none
            }
            return options
        }
    }

    /// What this process may not write.
    enum Forbidden: CaseIterable { case realm, lockFile, folder }

    /// Files as a kill leaves them behind commits that set a number to 4 in the end.
    private func killed(checkpointing: Bool = false) throws -> String {
        let path = folder.path("victim-\(UInt64.random(in: 0 ... .max)).realm")
        let file = try StorageFile.open(path: path, options: LoggedFile.options())
        for value in UInt64(1)...4 { try LoggedFile.write(file, value) }
        if checkpointing {
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            try file.makeCheckpoint()
        }
        let copy = try LoggedFile.copy(of: path, in: folder)
        #expect(hasLog(copy))
        return copy
    }

    private func hasLog(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path + ".log") }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    /// What the files hold, without the lock file.
    private func contents(_ path: String) throws -> [[UInt8]] { try ["", ".log"].map { try bytes(path + $0) } }

    @Test(
        "Rule 35: what a kill has left in the log is brought to the file first, and leaves one closed file",
        arguments: Way.allCases,
        [false, true]
    )
    func recovers(way: Way, checkpointing: Bool) throws {
        let path = try killed(checkpointing: checkpointing)
        let other = try LoggedFile.copy(of: path, in: folder)
        do {
            let file = try StorageFile.open(path: path, options: way.options())
            #expect(file.options.isReadOnly == (way == .forReadingOnly))
            #expect(file.openLog == nil)
            #expect(!hasLog(path))
            let found = try LoggedFile.values(of: file)
            let wanted = try LoggedFile.values(of: StorageFile.open(path: other, options: LoggedFile.options()))
            #expect(found.version == wanted.version)
            #expect(found.values == wanted.values)
            #expect(found.values[1] == 4)
        }
        // Whoever knows of no logs.
        #expect(try LoggedFile.values(of: StorageFile.open(path: path)).values[1] == 4)
    }

    @Test("Rule 30: no power cut on the way loses what was committed", arguments: Way.allCases)
    func powerCuts(way: Way) throws {
        let path = try killed()
        var disk = PowerCutDisk(realm: try bytes(path), log: try bytes(path + ".log"))
        let recorder = LoggedFile.Recorder()
        do {
            let file = try StorageFile.open(path: path, options: way.options(recorder))
            #expect(try LoggedFile.values(of: file).values[1] == 4)
        }
        let operations = recorder.operations
        #expect(operations.contains { if case .remove = $0 { true } else { false } })
        var random = SplitMix64(seed: 35)
        let isWhole = try disk.forEachSurvivor(of: operations, in: folder, using: &random) { copy, state in
            let values = try LoggedFile.values(of: StorageFile.open(path: copy, options: LoggedFile.options())).values
            #expect(values[1] == 4, "\(state)")
        }
        #expect(isWhole)
    }

    @Test("Rule 33: a log that is missing is named, and the file stays as it is", arguments: Way.allCases)
    func missing(way: Way) throws {
        let path = try killed()
        try FileManager.default.removeItem(atPath: path + ".log")
        let before = try bytes(path)
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path, options: way.options()) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("missing") == true, "\(error?.message ?? "")")
        #expect(try bytes(path) == before)
    }

    @Test("Rule 35: whoever may not write reads in memory what a kill has left in the log, and changes nothing")
    func forbidden() async {
        await #expect(processExitsWith: .success) {
            let suite = LogRecoveryTests()
            let folder = suite.folder.url.path
            for forbidden in Forbidden.allCases {
                let path = try suite.killed()
                let before = try suite.contents(path)
                // It leaves a lock file.
                #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
                #expect(chmod(path, forbidden == .realm ? 0o444 : 0o666) == 0 && chmod(path + ".log", 0o666) == 0)
                #expect(chmod(path + ".lock", forbidden == .lockFile ? 0 : 0o666) == 0)
                #expect(chmod(folder, forbidden == .folder ? 0o555 : 0o777) == 0)
                // Who may do everything becomes somebody who may not.
                if getuid() == 0 { #expect(seteuid(65_533) == 0) }
                var found = stat()
                guard stat(path, &found) == 0 else {
                    // Nobody else comes to the folder for temporary files: there is nothing to try.
                    #expect(errno == EACCES && seteuid(0) == 0)
                    return
                }
                let options = Way.forReadingOnly.options()
                do {
                    let reader = try StorageFile.open(path: path, options: options)
                    #expect(try reader.beginRead().isInMemory && reader.lock == nil, "\(forbidden)")
                    #expect(try LoggedFile.values(of: reader).values[1] == 4, "\(forbidden)")
                    // Another opening of this process.
                    #expect(try StorageFile.open(path: path, options: options) === reader, "\(forbidden)")
                }
                // Who knows no way to apply records is told the remedy.
                var plain = StorageOptions()
                plain.isReadOnly = true
                let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path, options: plain) }
                #expect(error?.code == .unsupportedFormat, "\(forbidden)")
                let message = error?.message ?? ""
                #expect(message.contains("for writing") && message.contains("salvage"), "\(forbidden): \(message)")
                #expect(try suite.contents(path) == before, "\(forbidden)")
                if getuid() == 0 { #expect(seteuid(0) == 0) }
                for name in [path, path + ".lock"] { #expect(chmod(name, 0o600) == 0) }
                #expect(chmod(folder, 0o700) == 0)
                let file = try StorageFile.open(path: path, options: options)
                #expect(try LoggedFile.values(of: file).values[1] == 4, "\(forbidden)")
                #expect(!suite.hasLog(path), "\(forbidden)")
            }
            withExtendedLifetime(suite) {}
        }
    }

    @Test("Processes that open the file at once, in all ways, all find what was committed")
    func processes() throws {
        for round in 0..<12 {
            let path = try killed()
            var children: [ForkedProcess] = []
            for way in Way.allCases {
                let child = try ForkedProcess { parent in
                    _ = parent.receive()
                    let file = try StorageFile.open(path: path, options: way.options())
                    parent.send(UInt8(try LoggedFile.values(of: file).values[1]))
                }
                children.append(child)
            }
            for child in children { child.connection.send(1) }
            do {
                let options = round % 4 == 0 ? LoggedFile.options() : Way.allCases[round % 3].options()
                let file = try StorageFile.open(path: path, options: options)
                #expect(try LoggedFile.values(of: file).values[1] == 4, "round \(round)")
            }
            for child in children {
                #expect(child.connection.receive() == 4, "round \(round)")
                #expect(child.end() == 0, "round \(round)")
            }
            #expect(!hasLog(path), "round \(round)")
        }
    }

    @Test("Threads that open the file at once, in all ways, all find what was committed")
    func threads() throws {
        for round in 0..<8 {
            let path = try killed()
            let unexpected = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 6) { index in
                let way = Way.allCases[index % Way.allCases.count]
                do {
                    let file = try StorageFile.open(path: path, options: way.options())
                    let value = try LoggedFile.values(of: file).values[1]
                    if value != 4 { unexpected.withLock { $0.append("\(way): \(value)") } }
                } catch {
                    unexpected.withLock { $0.append("\(way): \(error)") }
                }
            }
            #expect(unexpected.withLock { $0 } == [], "round \(round)")
            #expect(!hasLog(path), "round \(round)")
        }
    }
}
