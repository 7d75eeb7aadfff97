import Foundation

@testable import RealmModel
@testable import RealmStorage

/// What a program does with a file.
enum HostileUse {
    /// How far it came.
    struct Outcome: OptionSet, Hashable {
        let rawValue: Int
        static let opened = Outcome(rawValue: 1)
        static let verified = Outcome(rawValue: 2)
        static let read = Outcome(rawValue: 4)
        static let written = Outcome(rawValue: 8)
        static let salvaged = Outcome(rawValue: 16)
        /// What salvage wrote is intact.
        static let intact = Outcome(rawValue: 32)
        static let queried = Outcome(rawValue: 64)
        static let copied = Outcome(rawValue: 128)
        static let compacted = Outcome(rawValue: 256)
        static let emptied = Outcome(rawValue: 512)

        static let everything: Outcome = [
            .opened, .verified, .read, .written, .salvaged, .intact, .queried, .copied, .compacted, .emptied,
        ]

        /// Whether the steps hold that another one promises: what verification finds nothing wrong with can be used in every way,
        /// and what salvage wrote is intact.
        var isConsistent: Bool {
            let used: Outcome = [.read, .written, .queried, .copied, .compacted, .emptied]
            return (!contains(.verified) || isSuperset(of: used)) && (!contains(.salvaged) || contains(.intact))
        }
    }

    /// Does everything with a file; errors are what is expected, and told to whoever asks.
    static func everything(
        _ path: String,
        salvagingTo target: String,
        onError report: (Outcome, any Error) -> Void = { _, _ in }
    ) -> Outcome {
        var outcome: Outcome = []
        func attempt(_ step: Outcome, _ body: () throws -> Void) {
            do {
                try body()
                outcome.insert(step)
            } catch {
                report(step, error)
                // Numbers at the end of their range are no damage: whoever writes is told, and the file can be read.
                let writes: Outcome = [.written, .compacted, .emptied]
                if (error as? StorageError)?.code == .limit, writes.contains(step) { outcome.insert(step) }
            }
        }
        var options = StorageOptions()
        options.durability = .none
        attempt(.opened) {
            let file = try StorageFile.open(path: path, options: options)
            outcome.insert(.opened)
            attempt(.verified) { try FileVerifier.verify(file.beginRead()) }
            attempt(.read) { try read(ModelView(snapshot: file.beginRead())) }
            attempt(.queried) { try query(file.beginRead()) }
            attempt(.copied) { try copy(file.beginRead(), to: target) }
            attempt(.written) {
                try write(file)
                if outcome.contains(.verified) { try FileVerifier.verify(file.beginRead()) }
            }
            attempt(.read) { try read(ModelView(snapshot: file.beginRead())) }
            attempt(.compacted) { try compact(file) }
            attempt(.emptied) { try empty(file) }
            attempt(.compacted) { try compact(file) }
        }
        attempt(.salvaged) {
            let damaged = try DamagedFile(path: path)
            _ = try StorageFile.build(
                at: target,
                replaces: true,
                beginning: FileBeginning(version: damaged.roots[0].version)
            ) {
                _ = try Salvager.salvage(damaged, to: $0)
            }
            outcome.insert(.salvaged)
            attempt(.intact) { try FileVerifier.verify(StorageFile.open(path: target, options: options).beginRead()) }
        }
        return outcome
    }

    private static func read(_ model: ModelView) throws {
        var failure: (any Error)?
        func attempt(_ body: () throws -> Void) {
            do { try body() } catch { failure = error }
        }
        var sum = 0
        for schema in model.schema.classes.values {
            guard let table = try model.table(named: schema.name) else { continue }
            var keys: [Int64] = []
            attempt {
                var cursor = table.leaves()
                while let leaf = try cursor.next(), keys.count < 100_000 {
                    for row in 0..<leaf.rowCount { keys.append(leaf.key(at: row)) }
                }
            }
            for (ordinal, property) in table.schema.properties.enumerated() where property.isStored {
                for key in keys {
                    attempt {
                        switch property.collection {
                        case .none: sum &+= try table.value(ordinal, key: key).hashValue
                        case .map: sum &+= try table.map(ordinal, key: key).entries().count
                        default:
                            for value in try table.list(ordinal, key: key).values() { sum &+= value.hashValue }
                        }
                    }
                }
                if property.isPrimaryKey || property.isIndexed, property.collection == .none {
                    for key in keys.prefix(100) {
                        attempt {
                            sum &+= try table.indexedKeys(property: ordinal, equalTo: table.value(ordinal, key: key))
                                .count
                        }
                    }
                }
            }
            for key in keys.prefix(200) {
                attempt { sum &+= try table.owner(of: key) == nil ? 0 : 1 }
                attempt { sum &+= try table.index(of: key) ?? 0 }
            }
            for index in stride(from: 0, to: min(table.count, 100_000), by: 97) {
                attempt { sum &+= Int(truncatingIfNeeded: try table.key(at: index) ?? 0) }
            }
        }
        if let failure { throw failure }
    }

    /// Asks every index for ranges, and the log for everything that changed.
    private static func query(_ snapshot: Snapshot) throws {
        let model = try ModelView(snapshot: snapshot)
        var failure: (any Error)?
        func attempt(_ body: () throws -> Void) {
            do { try body() } catch { failure = error }
        }
        for schema in model.schema.classes.values {
            attempt {
                guard let table = try model.table(named: schema.name) else { return }
                for index in table.indexes {
                    attempt { _ = try table.keys(in: index, equalTo: []).count }
                    attempt { _ = try table.count(in: index, equalTo: []) }
                }
                for ordinal in table.schema.properties.indices where table.hasIndex(ordinal) {
                    attempt {
                        let keys = try table.rangeKeys(property: ordinal, lower: .unbounded, upper: .unbounded)
                        for key in keys.prefix(1_000) { _ = try table.value(ordinal, key: key) }
                    }
                }
            }
        }
        for first in Set([1, snapshot.version / 2, snapshot.version - min(3, snapshot.version)]) {
            attempt { _ = try snapshot.file.changes(after: first, through: snapshot)?.tables.count }
        }
        attempt { _ = try snapshot.file.byteCounts() }
        if let failure { throw failure }
    }

    private static func copy(_ snapshot: Snapshot, to target: String) throws {
        defer { for name in [target, target + ".lock"] { unlink(name) } }
        try StorageFile.build(at: target, replaces: true, beginning: FileBeginning(version: snapshot.version)) {
            try FileCompactor.copy(snapshot, to: $0)
        }
    }

    /// Takes every step of making the file smaller.
    private static func compact(_ file: StorageFile) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let maintenance = SpaceMaintenance()
        for _ in 0..<10_000 {
            switch try maintenance.step(file) {
            case .commit(let commit): try file.publish([commit])
            case .more: break
            case .done: return
            }
        }
        fatalError("Making the file smaller does not end")
    }

    private static func empty(_ file: StorageFile) throws {
        try write(file) { model in
            for schema in model.schema.classes.values { try model.table(named: schema.name)?.deleteAll() }
        }
    }

    static func write(_ file: StorageFile, _ body: (ModelView) throws -> Void) throws {
        try file.lockForWriting()
        defer { file.unlockForWriting() }
        let model = try ModelView(snapshot: file.beginRead())
        try model.begin(file.beginWrite())
        do {
            try body(model)
            try file.publish([model.prepareCommit()])
            try model.endTransaction(advancingTo: file.beginRead())
        } catch {
            model.rollback()
            throw error
        }
    }
}
