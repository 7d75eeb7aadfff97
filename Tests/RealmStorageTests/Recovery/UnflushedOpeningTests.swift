import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A process is killed while it flushes a commit, and one without durability has the file open next, which commits nothing.
///
/// What the killed one has acknowledged must be there behind any power cut, whoever else opens the file and commits.
@Suite("Openings without durability")
struct UnflushedOpeningTests {
    let directory = TemporaryDirectory()

    private struct Write {
        let offset: Int
        let bytes: [UInt8]

        var isHeader: Bool { offset < FileHeader.slotPageCount * pageByteCount }

        func apply(to image: inout [UInt8]) {
            let end = offset + bytes.count
            if image.count < end { image.append(contentsOf: repeatElement(0, count: end - image.count)) }
            image.replaceSubrange(offset..<end, with: bytes)
        }
    }

    /// A file as the system has it, and which of it is certainly on the disk.
    private struct Killed {
        var durable: [UInt8]
        var pending: [Write] = []
        var acknowledged: UInt64
        /// The first value of each version.
        var values: [UInt64: UInt64] = [:]

        /// What is there as long as the power is.
        var whole: [UInt8] {
            var image = durable
            for write in pending { write.apply(to: &image) }
            return image
        }

        mutating func perform(_ operation: RecordingDevice.Operation) {
            switch operation {
            case .write(let offset, let bytes): pending.append(Write(offset: offset, bytes: bytes))
            case .synchronize:
                durable = whole
                pending = []
            case .setByteCount: Issue.record("Nothing is to be cut off here")
            case .acknowledged(let version): acknowledged = version
            }
        }
    }

    private func commit(_ value: UInt64, to file: StorageFile, creates: Bool = false) throws -> UInt64 {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let transaction = try file.beginWrite()
        if creates { try PageArray.create(in: transaction) }
        try PageArray.set(0, to: value, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        return file.newestVersion
    }

    /// A process that was killed in the flush of its last commit.
    private func makeKilled() throws -> Killed {
        let path = directory.path("before.realm")
        _ = try StorageFile.open(path: path)
        var killed = Killed(durable: Array(try Data(contentsOf: URL(fileURLWithPath: path))), acknowledged: 1)
        let log = RecordingDevice.Log()
        var options = StorageOptions()
        options.makeDevice = { RecordingDevice($0, log: log) }
        let file = try StorageFile.open(path: path, options: options)
        for value in UInt64(1)...4 {
            let version = try commit(value, to: file, creates: value == 1)
            killed.values[version] = value
            log.append(.acknowledged(version: version))
        }
        let operations = log.state.withLock { $0.operations }
        let flush = operations.lastIndex { if case .synchronize = $0 { true } else { false } }
        for operation in operations[..<(try #require(flush))] { killed.perform(operation) }
        #expect(killed.acknowledged + 1 == file.newestVersion)
        #expect(killed.pending.contains(where: \.isHeader) && !killed.pending.allSatisfy(\.isHeader))
        return killed
    }

    enum Course: String, CaseIterable { case closed, open, behindReader }

    private func open(_ path: String, _ log: RecordingDevice.Log, _ edit: (inout StorageOptions) -> Void) throws
        -> StorageFile
    {
        var options = StorageOptions()
        options.makeDevice = { RecordingDevice($0, log: log) }
        edit(&options)
        // As each process has it.
        return try StorageFile.openUnshared(
            data: try DataFile.open(path: path, isReadOnly: options.isReadOnly),
            path: path,
            options: options
        )
    }

    /// What is done to the file behind the kill.
    private func goOn(_ course: Course, _ path: String, _ values: inout [UInt64: UInt64]) throws
        -> [RecordingDevice.Operation]
    {
        let log = RecordingDevice.Log()
        let reader = course == .behindReader ? try open(path, log) { $0.isReadOnly = true } : nil
        var unflushed: StorageFile? = try open(path, log) { $0.durability = .none }
        if course == .closed { unflushed = nil }
        do {
            let file = try open(path, log) { _ in }
            // It is seen from now on.
            log.append(.acknowledged(version: file.newestVersion))
            let version = try commit(5, to: file)
            values[version] = 5
            log.append(.acknowledged(version: version))
        }
        withExtendedLifetime((reader, unflushed)) {}
        unflushed = nil
        return log.state.withLock { $0.operations }
    }

    /// What a power cut may leave: nothing that was not flushed, all of it, the headers alone, or the pages alone.
    private func states(_ killed: Killed) -> [[UInt8]] {
        let pending = killed.pending
        let parts: [[Write]] = [[], pending, pending.filter(\.isHeader), pending.filter { !$0.isHeader }]
        return parts.map { part in
            var image = killed.durable
            for write in part { write.apply(to: &image) }
            return image
        }
    }

    private func check(_ image: [UInt8], _ killed: Killed, _ what: String) throws {
        let path = directory.path("\(what).realm")
        try Data(image).write(to: URL(fileURLWithPath: path))
        do {
            let snapshot = try StorageFile.open(path: path).beginRead()
            #expect(snapshot.version >= killed.acknowledged, "\(what)")
            let values = try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
            #expect(values[0] == killed.values[snapshot.version], "\(what)")
            try PageArray.audit(snapshot)
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    @Test(
        "No power cut behind one loses what was acknowledged before it, or since by others",
        arguments: Course.allCases
    )
    func powerCuts(course: Course) throws {
        var killed = try makeKilled()
        let path = directory.path("\(course).realm")
        try Data(killed.whole).write(to: URL(fileURLWithPath: path))
        let operations = try goOn(course, path, &killed.values)
        for step in 0...operations.count {
            if step > 0 { killed.perform(operations[step - 1]) }
            for (number, image) in states(killed).enumerated() {
                try check(image, killed, "\(course)-\(step)-\(number)")
            }
        }
        #expect(killed.values[killed.acknowledged] == 5)
    }

    @Test("One of a file that was closed writes nothing, and waits for no flush")
    func closedFile() throws {
        let path = directory.path("closed.realm")
        _ = try commit(1, to: try StorageFile.open(path: path), creates: true)
        let log = RecordingDevice.Log()
        var file: StorageFile? = try open(path, log) { $0.durability = .none }
        #expect(file?.newestVersion == 2)
        file = nil
        #expect(log.state.withLock { $0.operations.isEmpty })
    }
}
