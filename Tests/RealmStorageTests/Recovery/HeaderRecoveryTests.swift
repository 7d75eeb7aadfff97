import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct HeaderRecoveryTests {
    let directory = TemporaryDirectory()

    /// A file with `count` one-value commits, as it lies on the disk after a crash (no closing mark) or a clean close.
    private func makeFile(_ name: String, isClosed: Bool) throws -> String {
        let path = directory.path(name)
        let file = try StorageFile.open(path: path)
        #expect(try file.tryLockForWriting())
        let transaction = try file.beginWrite()
        try PageArray.create(in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        for round in 1...3 {
            let transaction = try file.beginWrite()
            try PageArray.set(0, to: UInt64(round), in: transaction)
            try file.publish([try PageArray.commit(transaction)])
        }
        let copy = directory.path("copy-" + name)
        if !isClosed { try FileManager.default.copyItem(atPath: path, toPath: copy) }
        file.unlockForWriting()
        return isClosed ? path : copy
    }

    private func flip(_ path: String, at offset: Int) throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.seek(toOffset: UInt64(offset))
        let byte = try #require(try handle.read(upToCount: 1))[0]
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: Data([byte ^ 0x10]))
        try handle.close()
    }

    private func firstValue(_ path: String) throws -> UInt64 {
        let snapshot = try StorageFile.open(path: path).beginRead()
        return try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[0]
    }

    @Test(arguments: 0..<4)
    func `one damaged header copy loses nothing`(page: Int) throws {
        for isClosed in [true, false] {
            let path = try makeFile("h\(page)\(isClosed).realm", isClosed: isClosed)
            try flip(path, at: page * 4096 + 60)
            #expect(try firstValue(path) == 3)
        }
    }

    /// A commit of which a power cut left nothing but a torn copy of its header leaves it in the slot of the mark.
    @Test(arguments: 0..<4)
    func `a torn copy beside the mark is replaced at opening, damage to the header itself is told`(page: Int) throws {
        let path = try makeFile("torn\(page).realm", isClosed: true)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let fields = bytes[page * 4096 + 64..<page * 4096 + 80]
        let isMark = fields.prefix(8).elementsEqual(fields.suffix(8))
        try flip(path, at: page * 4096 + 60)
        let snapshot = try StorageFile.open(path: path).beginRead()
        if isMark {
            try HeaderAudit.check(snapshot)
        } else {
            let error = #expect(throws: StorageError.self) { try HeaderAudit.check(snapshot) }
            #expect(error?.page == PageNumber(page))
        }
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[0] == 3)
    }

    @Test(arguments: 0..<4)
    func `a closed file that lost a header page and another one is never taken for an older one`(page: Int) throws {
        let closed = try makeFile("closed\(page).realm", isClosed: true)
        let pageCount = try Data(contentsOf: URL(fileURLWithPath: closed)).count / 4096
        var refused = 0
        for other in 4..<pageCount {
            let path = directory.path("two\(page)-\(other).realm")
            try FileManager.default.copyItem(atPath: closed, toPath: path)
            for damaged in [page, other] { try flip(path, at: damaged * 4096 + 60) }
            do {
                #expect(try firstValue(path) == 3, "pages \(page) and \(other)")
            } catch let error as StorageError {
                #expect(error.code == .corrupt, "pages \(page) and \(other): \(error)")
                refused += 1
            }
        }
        #expect(refused > 0)
    }

    /// What a power cut leaves of a file: everything up to the flush of the last commit but for what `isLost` says, and
    /// nothing of what came after it.
    private func makeCrashedFile(
        _ name: String,
        isLost: (_ offset: Int) -> Bool = { _ in false }
    ) throws -> (path: String, root: PageReference, headers: [Int: [Data]]) {
        let log = RecordingDevice.Log()
        var options = StorageOptions()
        options.makeDevice = { RecordingDevice($0, log: log) }
        let path = directory.path("whole-" + name)
        _ = try StorageFile.open(path: path)
        var image = try Data(contentsOf: URL(fileURLWithPath: path))
        let file = try StorageFile.open(path: path, options: options)
        #expect(try file.tryLockForWriting())
        let transaction = try file.beginWrite()
        try PageArray.create(in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        for round in 1...3 {
            let transaction = try file.beginWrite()
            try PageArray.set(0, to: UInt64(round), in: transaction)
            try file.publish([try PageArray.commit(transaction)])
        }
        let root = try file.beginRead().catalog.root
        file.unlockForWriting()
        let operations = log.state.withLock { $0.operations }
        let flushes = operations.indices.filter { if case .synchronize = operations[$0] { true } else { false } }
        var headers: [Int: [Data]] = [:]
        for (index, operation) in operations[..<flushes.last!].enumerated() {
            guard case .write(let offset, let bytes) = operation else { continue }
            for page in 0..<4 where offset <= page * 4096 && (page + 1) * 4096 <= offset + bytes.count {
                headers[page, default: []].append(Data(bytes.dropFirst(page * 4096 - offset).prefix(4096)))
            }
            if index > flushes.dropLast().last!, isLost(offset) { continue }
            if image.count < offset + bytes.count { image.append(Data(count: offset + bytes.count - image.count)) }
            image.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        }
        let crashed = directory.path(name)
        try image.write(to: URL(fileURLWithPath: crashed))
        return (crashed, root, headers)
    }

    @Test func `a torn commit is not rolled back behind the version that it knows as durable`() throws {
        let (path, _, headers) = try makeCrashedFile("stale.realm") { $0 >= 4 * 4096 }
        var image = try Data(contentsOf: URL(fileURLWithPath: path))
        func number(_ page: Data, at offset: Int) -> UInt64 {
            page.dropFirst(offset).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        // The slot of the version before has what it had before that.
        for page in 0..<4 {
            let header = image[page * 4096..<(page + 1) * 4096]
            guard number(header, at: 64) == 4 else {
                #expect(number(header, at: 64) == 5 && number(header, at: 72) == 4)
                continue
            }
            let stale = try #require(headers[page]?.last { number($0, at: 64) < 4 })
            image.replaceSubrange(page * 4096..<(page + 1) * 4096, with: stale)
        }
        try image.write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .corrupt)
    }

    @Test func `a torn commit is rolled back to the version before, reported, and gone for good`() throws {
        let (path, _, _) = try makeCrashedFile("torn.realm") { $0 >= 4 * 4096 }
        do {
            let file = try StorageFile.open(path: path)
            #expect(file.rolledBackVersion == 5)
            let snapshot = try file.beginRead()
            #expect(snapshot.version == 4)
            #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[0] == 2)
        }
        let file = try StorageFile.open(path: path)
        #expect(file.rolledBackVersion == nil)
        #expect(try file.beginRead().version == 4)
    }

    @Test func `a commit whose flush was cut short is made durable before anybody sees it`() throws {
        let (path, root, _) = try makeCrashedFile("unflushed.realm")
        let log = RecordingDevice.Log()
        var options = StorageOptions()
        options.makeDevice = { RecordingDevice($0, log: log) }
        let file = try StorageFile.open(path: path, options: options)
        #expect(try file.beginRead().version == 5)
        var flushed: [Int] = []
        var pending: [Int] = []
        for operation in log.state.withLock({ $0.operations }) {
            switch operation {
            case .write(let offset, let bytes): pending += offset / 4096..<(offset + bytes.count) / 4096
            case .synchronize:
                flushed += pending
                pending = []
            default: break
            }
        }
        #expect(flushed.contains(Int(root.page)))
        #expect(Set(flushed).intersection(0..<4).count == 2)
        // The other slot is taken over only then.
        #expect(Set(pending).intersection(0..<4).isDisjoint(with: flushed))
        #expect(Set(pending).intersection(0..<4).count == 2)
    }

    @Test func `damage to a version that was acknowledged is an error even when its process was killed`() throws {
        let path = try makeFile("killed.realm", isClosed: false)
        let root: PageReference
        do {
            let copy = directory.path("killed2.realm")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            root = try StorageFile.open(path: copy).beginRead().catalog.root
        }
        try flip(path, at: Int(root.page) * 4096 + 100)
        let error = #expect(throws: StorageError.self) { try firstValue(path) }
        #expect(error?.code == .corrupt)
        #expect(error?.page == root.page)
    }

    @Test func `damage to a version that was closed cleanly is an error and never an older state`() throws {
        let path = try makeFile("closed.realm", isClosed: true)
        let root = try StorageFile.open(path: path).beginRead().catalog.root
        try flip(path, at: Int(root.page) * 4096 + 100)
        let copy = directory.path("closed2.realm")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let error = #expect(throws: StorageError.self) { try firstValue(copy) }
        #expect(error?.code == .corrupt)
        #expect(error?.page == root.page)
    }

    @Test func `a file cut short anywhere is refused, by name of the page where its header is left`() throws {
        let path = try makeFile("cut.realm", isClosed: false)
        let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        let headerEnd = 4 * pageByteCount
        var named = 0
        for length in (1..<40).map({ size * $0 / 40 }) + [1, headerEnd - 1, headerEnd, size - 1] {
            let copy = directory.path("cut-\(length).realm")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try FileHandle(forUpdatingAtPath: copy)!.truncate(atOffset: UInt64(length))
            do {
                #expect(try firstValue(copy) == 3, "length \(length)")
            } catch let error as StorageError {
                #expect([.corrupt, .notADatabase].contains(error.code), "length \(length): \(error)")
                if length >= headerEnd {
                    #expect(error.code == .corrupt && error.page != nil, "length \(length): \(error)")
                    named += 1
                }
            }
        }
        #expect(named > 0)
    }

    @Test func `a file cut to nothing is refused where its lock file knows it, and is a new one elsewhere`() throws {
        let copy = try makeFile("none.realm", isClosed: false)
        try FileHandle(forUpdatingAtPath: copy)!.truncate(atOffset: 0)
        #expect(try StorageFile.open(path: copy).newestVersion == 1)
        let path = directory.path("none.realm")
        try FileHandle(forUpdatingAtPath: path)!.truncate(atOffset: 0)
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .corrupt)
    }

    @Test func `a file that is something else is refused`() throws {
        let path = directory.path("text.realm")
        try Data(repeating: 0x41, count: 50_000).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.code == .notADatabase)
        #expect(throws: StorageError.self) { try StorageFile.open(path: "/dev/zero") }
    }
}
