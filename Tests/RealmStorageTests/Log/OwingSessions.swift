import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Sessions of a realm of numbers whose commits owe their pages for a while, and what is done to its files in them.
///
/// Pages are made some commits later, by a commit on top of them, for a step that needs them, or by the next opening: a session ends with a
/// close, or while pages are owed.
struct OwingSessions {
    typealias Operation = LoggedFile.Operation

    /// How a session ends.
    private enum End: CaseIterable {
        /// All pages are made, and the log ends with the last reference to the file.
        case close
        /// That goes while pages are owed.
        case letGo
        /// The process is killed while pages are owed: what follows goes on with the files as they are.
        case kill
    }

    /// A transaction that has not ended, and what the array holds behind it.
    private struct Member {
        let transaction: WriteTransaction
        let values: [UInt64]

        var version: UInt64 { transaction.version }
    }

    /// The realm file before the first session.
    let first: [UInt8]
    /// What was done to both files, in all sessions.
    private(set) var operations: [Operation] = []
    /// What the array holds at each version.
    private(set) var history: [UInt64: [UInt64]] = [:]
    /// The versions that were acknowledged by their records alone.
    private(set) var owing: Set<UInt64> = []

    private let seed: UInt64
    private let folder: TemporaryDirectory
    private var path: String
    private var random: SplitMix64
    private var model = [UInt64](repeating: 0, count: PageArray.count)
    private var recorder = LoggedFile.Recorder()

    /// Runs the sessions of a seed.
    ///
    /// - Parameters:
    ///   - seed: The seed.
    ///   - folder: Where the files stand.
    /// - Throws: What a step throws: none is made to fail.
    init(seed: UInt64, in folder: TemporaryDirectory) throws {
        self.seed = seed
        self.folder = folder
        random = SplitMix64(seed: seed &* 6367)
        path = folder.path("owing-\(seed).realm")
        _ = try StorageFile.open(path: path)
        first = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        for session in 0..<4 { try runSession(isFirst: session == 0) }
    }

    private mutating func isOneOf(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    // MARK: Sessions

    private mutating func runSession(isFirst: Bool) throws {
        recorder = LoggedFile.Recorder()
        let end = End.allCases.randomElement(using: &random) ?? .close
        // Checkpoints in the way of the commits, or beside them.
        let isStepping = isOneOf(2)
        var options = LoggedFile.options(blocks: seed % 2 == 0 ? 6 : 16, recorder: recorder, stepping: isStepping)
        options.log?.pagesOnDemand = true
        do {
            let file = try StorageFile.open(path: path, options: options)
            try file.lockForWriting()
            defer { file.unlockForWriting() }
            try begin(file, isFirst: isFirst)
            for _ in 0..<14 { try runRound(in: file) }
            switch end {
            case .close: try makePages(in: file)
            case .letGo: try acknowledgeSome(in: file)
            case .kill:
                try acknowledgeSome(in: file)
                operations += recorder.operations
                path = try LoggedFile.copy(of: path, in: folder)
            }
        }
        // With what the close did.
        if end != .kill { operations += recorder.operations }
    }

    /// Creates the array, or looks for what the sessions before have left.
    private mutating func begin(_ file: StorageFile, isFirst: Bool) throws {
        guard isFirst else {
            let found = try LoggedFile.values(of: file)
            #expect(found.values == model, "seed \(seed): an opening loses what was acknowledged")
            return
        }
        let change = LoggedFile.Change(creates: true, values: [(0, 1)])
        change.apply(to: &model)
        try publish([LoggedFile.prepare(change, in: file)], to: file)
    }

    private mutating func runRound(in file: StorageFile) throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3: try acknowledgeSome(in: file)
        case 4...6: try acknowledgeTogether(in: file)
        case 7: try publishOnTop(in: file)
        case 8: try rollBack(in: file)
        case 9: try publishSeveral(in: file)
        case 10: try changeSize(of: file)
        default: try rest(file)
        }
        if isOneOf(4), let snapshot = file.acknowledgedInMemory() {
            let values = try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
            #expect(values == model, "seed \(seed): what was acknowledged is read as something else")
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) { _ = file.takeCheckpointStep() }
    }

    // MARK: Commits

    /// Begins a transaction that joins those that are not sealed, and has it set some numbers, or two of them very often.
    private mutating func beginMember(
        of file: StorageFile,
        recorded isRecorded: Bool = true,
        spilling isSpilling: Bool = false
    ) throws -> Member {
        // The record of a large one takes several blocks of the log.
        let isLarge = isOneOf(6)
        let count = Int.random(in: isLarge ? 600...1_200 : 1...12, using: &random)
        let end = isLarge ? 2 : PageArray.count
        var change = LoggedFile.Change()
        for _ in 0..<count { change.values.append((Int.random(in: 0..<end, using: &random), random.next())) }
        let transaction = try file.beginWrite(joining: true)
        try change.apply(to: transaction)
        if isSpilling { try transaction.spill() }
        transaction.catalog = ByteTree(root: transaction.seal(transaction.catalog.root))
        transaction.changes.recordModify(table: 1, key: 1, column: 1)
        if isRecorded { transaction.record = .init(kind: .changes, content: change.content) }
        var values = model
        change.apply(to: &values)
        return Member(transaction: transaction, values: values)
    }

    /// Notes what a transaction has left that ends.
    private mutating func note(_ member: Member) {
        history[member.version] = member.values
        model = member.values
    }

    /// Acknowledges commits one by one.
    private mutating func acknowledgeSome(in file: StorageFile) throws {
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let member = try beginMember(of: file)
            let commit = LoggedCommit(of: member.transaction)
            guard commit.mayOwePages else {
                try publish(member, to: file)
                continue
            }
            let isDurable = try commit.acknowledge()
            #expect(isDurable)
            note(member)
            noteOwing(member.version)
        }
    }

    /// Acknowledges several commits with one flush; some groups are sealed before that.
    private mutating func acknowledgeTogether(in file: StorageFile) throws {
        var records: [OwingRecord] = []
        var group: UInt64 = 0
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let member = try beginMember(of: file)
            let commit = LoggedCommit(of: member.transaction)
            // With those before it.
            guard commit.mayJoinOwing else { return try publish(member, to: file) }
            group = member.transaction.groupNumber
            records.append(try commit.joinOwing())
            note(member)
        }
        guard let last = records.last?.entry.version else { return }
        var isSealed = isOneOf(5)
        if !isSealed { isSealed = try !file.acknowledge(records, of: group) }
        if isSealed { try makePages(in: file) } else { noteOwing(last) }
    }

    private mutating func noteOwing(_ version: UInt64) {
        owing.insert(version)
        recorder.append(.acknowledged(version: version))
    }

    /// Seals and publishes a transaction, and with it all on which it stands.
    private mutating func publish(_ member: Member, to file: StorageFile) throws {
        let commit = LoggedCommit(of: member.transaction)
        if commit.isBesideOwing { try commit.secureSpace() }
        let prepared = try member.transaction.prepareCommit()
        note(member)
        try publish([prepared], to: file)
    }

    private mutating func publish(_ commits: [PreparedCommit], to file: StorageFile) throws {
        guard let version = commits.last?.version else { return }
        history[version] = model
        try file.publish(commits)
        recorder.append(.acknowledged(version: version))
    }

    /// A commit that has its pages at once, and with them those of the ones before: with a record, without one, or written ahead.
    private mutating func publishOnTop(in file: StorageFile) throws {
        let (isRecorded, isSpilling) = (isOneOf(2), isOneOf(4))
        let member = try beginMember(of: file, recorded: isRecorded, spilling: isSpilling)
        try publish(member, to: file)
    }

    /// One that leaves those before it as they are.
    private mutating func rollBack(in file: StorageFile) throws {
        let isSpilling = isOneOf(3)
        try beginMember(of: file, spilling: isSpilling).transaction.rollback()
    }

    /// Makes the pages that are owed.
    private mutating func makePages(in file: StorageFile) throws {
        guard let commit = try file.sealGroup() else { return }
        try publish([commit], to: file)
        #expect(try LoggedFile.values(of: file).values == model, "seed \(seed): pages are of something else")
    }

    /// The same together with commits on top of them that are sealed by themselves.
    private mutating func publishSeveral(in file: StorageFile) throws {
        var commits: [PreparedCommit] = []
        if let commit = try file.sealGroup() { commits.append(commit) }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            let member = try beginMember(of: file)
            commits.append(try member.transaction.prepareCommit())
            note(member)
        }
        try publish(commits, to: file)
    }

    // MARK: What else is done

    /// Makes the file longer or smaller: with what is owed, or behind its pages.
    private mutating func changeSize(of file: StorageFile) throws {
        if isOneOf(2) {
            let transaction = try file.beginWrite(joining: true)
            try PageArray.setBallast(isOneOf(2) ? 450 : 0, in: transaction)
            transaction.catalog = ByteTree(root: transaction.seal(transaction.catalog.root))
            return try publish(Member(transaction: transaction, values: model), to: file)
        }
        try makePages(in: file)
        if let commit = try PageArray.shrink(file, budget: 16) { try publish([commit], to: file) }
    }

    /// What alarms do: nothing while pages are owed, and the log ends only where nobody has the write lock, behind their making.
    private mutating func rest(_ file: StorageFile) throws {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: _ = file.perform(.note)
        case 1: _ = file.perform(.checkpoint)
        case 2:
            try makePages(in: file)
            _ = file.perform(.note)
        default:
            try makePages(in: file)
            file.unlockForWriting()
            _ = file.perform(.end)
            try file.lockForWriting()
        }
    }
}
