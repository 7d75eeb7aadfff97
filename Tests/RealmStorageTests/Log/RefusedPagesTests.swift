import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Commits that are acknowledged by their records, and for whose pages there is no space.
@Suite("Commits without pages, and a full disk", .serialized)
struct RefusedPagesTests {
    typealias Owed = OwedPagesTests

    let folder = TemporaryDirectory()
    private let isFull = FullDevice.Switch()
    private var path: String { folder.path("a.realm") }
    private var hasLog: Bool { FileManager.default.fileExists(atPath: path + ".log") }

    private func options(_ recorder: LoggedFile.Recorder? = nil) -> StorageOptions {
        var options = Owed.options(recorder)
        let isFull = isFull
        let makeDevice = options.makeDevice
        options.makeDevice = { FullDevice(makeDevice?($0) ?? $0, isFull) }
        return options
    }

    /// A file that may be written to, with five commits for whose pages there was no space.
    private func openRefused(_ options: StorageOptions) throws -> StorageFile {
        let file = try StorageFile.open(path: path, options: options)
        try Owed.begin(file)
        #expect(try Owed.acknowledge(5, in: file))
        let commit = try #require(try file.sealGroup())
        isFull.isOn = true
        let refusal = #expect(throws: StorageError.self) { try file.publish([commit]) }
        #expect(refusal?.code == .full)
        #expect(!file.hasStopped && file.isOwingPages)
        return file
    }

    private func values(of snapshot: Snapshot) throws -> [UInt64] {
        try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
    }

    /// The file, or a copy of it, as another process has it open.
    private func openBeside(_ options: StorageOptions, at path: String? = nil) throws -> StorageFile {
        let path = path ?? self.path
        return try StorageFile.openUnshared(
            data: StorageFile.openData(path: path, options: options),
            path: path,
            options: options
        )
    }

    @Test("Rule 22: pages that find no space stop nothing: they are read in memory, and the next turn makes them")
    func goesOn() throws {
        let file = try openRefused(options())
        defer { file.unlockForWriting() }
        let published = file.newestVersion
        let snapshot = try file.beginRead()
        #expect(snapshot.isInMemory && snapshot.version == published + 5)
        #expect(file.newestVersionHere == snapshot.version)
        #expect(try values(of: snapshot) == Owed.model(5))
        #expect(try file.beginRead(asking: .inFile).version == published)
        for _ in 0..<2 {
            let refusal = #expect(throws: StorageError.self) { try file.beginWrite() }
            #expect(refusal?.code == .full)
            #expect(!file.hasStopped && file.isOwingPages)
            #expect(file.reasonOfMissingPages?.code == .full)
            #expect(try values(of: file.beginRead()) == Owed.model(5))
            #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(5))
        }
        isFull.isOn = false
        try file.publish([LoggedFile.prepare(.init(values: [(50, 50)]), in: file)])
        #expect(!file.isOwingPages && file.reasonOfMissingPages == nil)
        #expect(file.newestVersion == published + 6)
        #expect(file.isAhead(of: snapshot))
        #expect(try LoggedFile.values(of: file).values == Owed.model(5, more: [50: 50]))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(5, more: [50: 50]))
        #expect(try values(of: snapshot) == Owed.model(5))
        // There is another log, and pages are owed again.
        #expect(try Owed.acknowledge(file, 10, 10))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(5, more: [50: 50, 10: 10]))
        try file.publish([#require(try file.sealGroup())])
        #expect(try LoggedFile.values(of: file).values == Owed.model(5, more: [50: 50, 10: 10]))
    }

    @Test("Rule 22: a commit that is published with them fails alone, and so does what was begun on top of it")
    func losesUnacknowledged() throws {
        let file = try StorageFile.open(path: path, options: options())
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(3, in: file))
        let last = try Owed.member(file, 9, 9)
        let commit = try PageArray.commit(last)
        let open = try file.beginWrite()
        try LoggedFile.Change(values: [(20, 20)]).apply(to: open)
        isFull.isOn = true
        #expect(throws: StorageError.self) { try file.publish([commit]) }
        #expect(!file.hasStopped)
        #expect(throws: StorageError.self) { try PageArray.commit(open) }
        open.rollback()
        #expect(try values(of: file.beginRead()) == Owed.model(3))
        isFull.isOn = false
        let next = try file.beginWrite()
        #expect(next.version == commit.version)
        next.rollback()
        #expect(try LoggedFile.values(of: file).values == Owed.model(3))
        #expect(try LoggedFile.valuesOfCopy(of: path, in: folder) == Owed.model(3))
        #expect(!hasLog)
    }

    /// Finds no space where it is sealed.
    private final class FullSession: WriterSession {
        func seal(in transaction: WriteTransaction) throws(StorageError) {
            throw StorageError(.full, "as a test has it")
        }

        func didSeal(catalog: PageReference) {}
    }

    @Test("Rule 22: the same goes where there is no space for what is written ahead while they are sealed")
    func sealing() throws {
        let file = try StorageFile.open(path: path, options: options())
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(3, in: file))
        let member = try file.beginWrite(joining: true)
        member.session = FullSession()
        member.rollback(sessionIsClean: true)
        #expect(throws: StorageError.self) { try file.sealGroup() }
        #expect(!file.hasStopped && file.isOwingPages)
        #expect(try values(of: file.beginRead()) == Owed.model(3))
        try file.publish([LoggedFile.prepare(.init(values: [(50, 50)]), in: file)])
        #expect(try LoggedFile.values(of: file).values == Owed.model(3, more: [50: 50]))
    }

    @Test("Rule 23: where the log was deleted, and there is no space, writing stops, and the log is asked for")
    func deletedLog() throws {
        let file = try StorageFile.open(path: path, options: options())
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(5, in: file))
        let commit = try #require(try file.sealGroup())
        unlink(path + ".log")
        isFull.isOn = true
        #expect(throws: StorageError.self) { try file.publish([commit]) }
        #expect(file.reasonOfStop?.message.contains("bring it back") == true)
        #expect(try values(of: file.beginRead()) == Owed.model(5))
    }

    @Test("Rule 7: another process that has the lock before there is space makes them, and this one goes on then")
    func madeElsewhere() throws {
        let file = try openRefused(options())
        file.unlockForWriting()
        let snapshot = try file.beginRead()
        #expect(snapshot.isInMemory)
        let other = try openBeside(Owed.options())
        #expect(other.newestVersion == snapshot.version)
        #expect(try LoggedFile.values(of: other).values == Owed.model(5))
        // Whatever this one's disk says.
        #expect(file.reasonOfMissingPages == nil && !file.isOwingPages)
        #expect(file.isAhead(of: snapshot))
        #expect(try !file.beginRead().isInMemory)
        isFull.isOn = false
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try file.publish([LoggedFile.prepare(.init(values: [(50, 50)]), in: file)])
        #expect(try LoggedFile.values(of: file).values == Owed.model(5, more: [50: 50]))
        #expect(try LoggedFile.values(of: other).values == Owed.model(5, more: [50: 50]))
    }

    @Test("Another process opens the file on the full disk, and reads them in memory until there is space")
    func openedOnFullDisk() throws {
        let file = try openRefused(options())
        file.unlockForWriting()
        let other = try openBeside(options())
        let snapshot = try other.beginRead()
        #expect(snapshot.isInMemory)
        #expect(try values(of: snapshot) == Owed.model(5))
        // Its attempt has left nothing that this one does not find.
        try file.lockForWriting()
        #expect(throws: StorageError.self) { try file.beginWrite() }
        isFull.isOn = false
        try file.publish([LoggedFile.prepare(.init(values: [(50, 50)]), in: file)])
        file.unlockForWriting()
        #expect(try LoggedFile.values(of: file).values == Owed.model(5, more: [50: 50]))
        #expect(try LoggedFile.values(of: other).values == Owed.model(5, more: [50: 50]))
    }

    /// How somebody opens the file who reads only.
    private func optionsForReading() -> StorageOptions {
        var options = options()
        options.isReadOnly = true
        options.recovery = options.log
        options.log = nil
        return options
    }

    @Test("Rule 35: whoever opens the file on the full disk for reading only reads them in memory, too")
    func openedForReading() throws {
        let file = try openRefused(options())
        file.unlockForWriting()
        let reader = try openBeside(optionsForReading())
        let snapshot = try reader.beginRead()
        #expect(snapshot.isInMemory)
        #expect(try values(of: snapshot) == Owed.model(5))
        #expect(!reader.isAhead(of: snapshot))
        isFull.isOn = false
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        try file.publish([LoggedFile.prepare(.init(values: [(50, 50)]), in: file)])
        #expect(reader.isAhead(of: snapshot))
        #expect(try LoggedFile.values(of: reader).values == Owed.model(5, more: [50: 50]))
        #expect(try values(of: snapshot) == Owed.model(5))
    }

    @Test("Rule 35: what a kill has left in a log is read on a full disk by whoever opens the file for reading only")
    func readBehindKill() throws {
        let file = try openRefused(options())
        defer { file.unlockForWriting() }
        let copy = try LoggedFile.copy(of: path, in: folder)
        let refusal = #expect(throws: StorageError.self) { try openBeside(options(), at: copy) }
        #expect(refusal?.code == .full)
        do {
            let reader = try openBeside(optionsForReading(), at: copy)
            #expect(reader.lock == nil)
            #expect(try reader.beginRead().isInMemory)
            #expect(try LoggedFile.values(of: reader).values == Owed.model(5))
        }
        // Nothing of the attempts is in the way of whoever has space.
        isFull.isOn = false
        #expect(try LoggedFile.values(of: openBeside(options(), at: copy)).values == Owed.model(5))
        #expect(!FileManager.default.fileExists(atPath: copy + ".log"))
    }

    @Test(
        "Rule 32: a close makes them where there is space by then, and leaves the log where there is none",
        arguments: [true, false]
    )
    func closing(isFullStill: Bool) throws {
        do {
            let file = try openRefused(options())
            file.unlockForWriting()
            isFull.isOn = isFullStill
            file.closeLogUnlessWritten()
            #expect(hasLog == isFullStill)
            #expect(!file.hasStopped)
        }
        #expect(hasLog == isFullStill)
        isFull.isOn = false
        #expect(try LoggedFile.values(of: StorageFile.open(path: path, options: options())).values == Owed.model(5))
        #expect(!hasLog)
    }

    @Test("Whoever lets go of the file without a close leaves them to the next opening")
    func lettingGo() throws {
        do {
            let file = try openRefused(options())
            file.unlockForWriting()
            isFull.isOn = false
        }
        #expect(hasLog)
        #expect(try LoggedFile.values(of: StorageFile.open(path: path, options: options())).values == Owed.model(5))
    }

    @Test("Some seconds behind the last commit they are made where there is space; before that no alarm is asked for")
    func alarms() throws {
        let clock = HandClock()
        var options = options()
        options.log?.clock = clock.clock
        let file = try openRefused(options)
        file.unlockForWriting()
        clock.pass(2_000)
        // That of the end.
        #expect(clock.alarmCount == 1)
        isFull.isOn = false
        clock.pass(5_000)
        #expect(!file.isOwingPages && !hasLog)
        #expect(clock.alarmCount == 0)
        #expect(try LoggedFile.values(of: file).values == Owed.model(5))
    }

    @Test("Rule 29: no power cut loses them, before, within and behind the attempts to make them")
    func powerCuts() throws {
        let recorder = LoggedFile.Recorder()
        let file = try StorageFile.open(path: path, options: options(recorder))
        try Owed.begin(file)
        defer { file.unlockForWriting() }
        #expect(try Owed.acknowledge(5, in: file))
        // What is there counts as flushed.
        let (realm, log) = try (bytes(path), bytes(path + ".log"))
        let before = recorder.operations.count
        let commit = try #require(try file.sealGroup())
        isFull.isOn = true
        #expect(throws: StorageError.self) { try file.publish([commit]) }
        #expect(throws: StorageError.self) { try file.beginWrite() }
        isFull.isOn = false
        try file.publish([LoggedFile.prepare(.init(values: [(50, 50)]), in: file)])
        let operations = Array(recorder.operations[before...])
        #expect(operations.contains { if case .remove = $0 { true } else { false } })
        var disk = PowerCutDisk(realm: realm, log: log)
        var random = SplitMix64(seed: 29)
        let isWhole = try disk.forEachSurvivor(of: operations, in: folder, using: &random) { copy, state in
            let found = try LoggedFile.values(of: StorageFile.open(path: copy, options: LoggedFile.options())).values
            #expect(found.prefix(50) == Owed.model(5).prefix(50), "\(state)")
        }
        #expect(isWhole)
    }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
}
