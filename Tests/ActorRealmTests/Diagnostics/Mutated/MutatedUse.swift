import ActorRealm
import Foundation

/// What a program does with a file from a stranger through the public interface, in the forms that throw.
final class MutatedUse {
    enum Step: String, CaseIterable {
        case salvage, open, verify, read, query, copy, observe, insert, set, collect, delete, again, compact, migrate,
            empty
    }

    /// Something that is no error of the library.
    struct Violation: Error { let words: String }

    let path: String
    private(set) var errors: [(step: Step, error: Realm.Error)] = []
    /// Whether verification found nothing wrong before anything was written.
    private(set) var isVerified = false

    init(path: String) { self.path = path }

    private var url: URL { URL(fileURLWithPath: path) }
    private var other: URL { URL(fileURLWithPath: path + ".other") }

    /// The steps that met an error, each once.
    var failed: Set<Step> { Set(errors.map(\.step)) }

    /// Does everything.
    ///
    /// - Throws: `Violation` for what is no error of the library, and where the steps do not hold what another one promises: what
    ///   verification finds nothing wrong with can be used in every way, and what salvage and copies write is whole.
    func run() async throws {
        try salvage()
        try useOpen()
        if failed.contains(.open) { return }
        try await attemptAsync(.observe) { try await MutatedObserver().observe(Mutated.configuration(path)) }
        try change()
        try attempt(.compact) { try Realm.compact(Mutated.configuration(path)) }
        try attempt(.again) { try withNewRealm(Mutated.configuration(path)) { try Self.readAll($0) } }
        _ = try? await Realm.migrationPlan(for: next)
        try attempt(.migrate) { try withNewRealm(next) { try $0.requireReadable(Mutated.Next.Tick.self) } }
        // The classes of before do not fit any more where the migration went well.
        try attempt(.empty) { try withNewRealm(next) { realm in try realm.write { realm.deleteAll() } } }
        guard isVerified else { return }
        try attempt(.verify) { try withNewRealm(next) { try $0.verify() } }
        // Its values may be others than the classes take, and its numbers at their end: that is no damage.
        if let (step, error) = errors.first(where: { $0.error.code == .invalidDatabase }) {
            throw Violation(words: "a file that was verified: \(step) \(error.code) \(error)")
        }
    }

    // MARK: Errors

    private func note(_ step: Step, _ error: any Error) throws {
        if let violation = error as? Violation { throw violation }
        guard let known = error as? Realm.Error else {
            throw Violation(words: "\(step) threw \(type(of: error)): \(error)")
        }
        errors.append((step, known))
    }

    private func attempt(_ step: Step, _ body: () throws -> Void) throws {
        do { try body() } catch { try note(step, error) }
    }

    private func attemptAsync(_ step: Step, _ body: () async throws -> Void) async throws {
        do { try await body() } catch { try note(step, error) }
    }

    /// What must not find damage: in a file that the library has just written.
    ///
    /// Its schema may be one that the classes do not fit.
    private func expectWhole(_ what: String, _ body: () throws -> Void) throws {
        do { try body() } catch let error as Realm.Error where error.code != .invalidDatabase {} catch {
            throw Violation(words: "\(what): \(error)")
        }
    }

    // MARK: Files

    private func salvage() throws {
        let (url, other) = (url, other)
        defer { Self.remove(other) }
        try attempt(.salvage) { _ = try Realm.salvage(from: url, to: other) }
        if failed.contains(.salvage) { return }
        try expectWhole("what salvage wrote") {
            // With the classes that the file says, which may be others.
            var configuration = Realm.Configuration(fileURL: other, objectTypes: [])
            configuration.durability = .unflushed
            try withNewRealm(configuration) { try $0.verify() }
        }
    }

    private func useOpen() throws {
        let (path, other) = (path, other)
        defer { Self.remove(other) }
        try attempt(.open) {
            try withNewRealm(Mutated.configuration(path)) { realm in
                try attempt(.verify) {
                    try realm.verify()
                    isVerified = true
                }
                try attempt(.read) { try Self.readAll(realm) }
                try attempt(.query) { try MutatedQueries(realm).run() }
                try attempt(.copy) { try realm.writeCopy(toFile: other) }
                if isVerified, !failed.contains(.copy) {
                    try expectWhole("a copy of a file that was verified") {
                        try withNewRealm(Mutated.configuration(other.path)) { try $0.verify() }
                    }
                }
            }
        }
    }

    private func change() throws {
        let path = path
        let changes: [(Step, (MutatedChanges) throws -> Void)] = [
            (.insert, { try $0.insert() }), (.insert, { try $0.update() }), (.set, { try $0.set() }),
            (.collect, { try $0.editLists() }), (.collect, { try $0.editMaps() }), (.set, { try $0.set() }),
            (.delete, { try $0.delete() }),
        ]
        for (step, change) in changes {
            try attempt(step) {
                try withNewRealm(Mutated.configuration(path)) { realm in
                    try realm.write { try change(MutatedChanges(realm)) }
                }
            }
        }
        if isVerified { try attempt(.verify) { try withNewRealm(Mutated.configuration(path)) { try $0.verify() } } }
    }

    /// A configuration of the next release, which reads and writes while it migrates.
    private var next: Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: url,
            schemaVersion: 2,
            migrationBlock: { migration, _ in
                migration.enumerateObjects(ofType: "MutatedTick") { old, new in
                    new?["added"] = (old?["label"] as? String).map { $0 + "!" }
                }
                migration.enumerateObjects(ofType: "MutatedKey") { old, new in
                    if old?["key"] as? String == "kkk9", let new { migration.delete(new) }
                }
                migration.create("MutatedTick", value: ["number": 5_000, "label": "made"])
                migration.create("MutatedKey", value: ["key": "other", "size": 3], update: .modified)
                _ = migration.oldObject(ofType: "MutatedTick", forPrimaryKey: 700)?["label"]
            },
            objectTypes: Mutated.Next.types
        )
        configuration.durability = .unflushed
        return configuration
    }

    private static func remove(_ url: URL) {
        for end in ["", ".lock"] { unlink(url.path + end) }
    }

    // MARK: Reading

    /// Reads every object, and throws the first error behind all of it.
    static func readAll(_ realm: Realm) throws {
        var failure: (any Error)?
        func attempt(_ body: () throws -> Void) {
            do { try body() } catch { failure = failure ?? error }
        }
        func read<Root: Object>(_ reading: MutatedReading<Root>, by step: Int = 1) {
            attempt {
                try realm.requireReadable(Root.self)
                let all = realm.objects(Root.self)
                try all.requireReadable()
                for (index, object) in all.enumerated() where index % step == 0 { attempt { try reading(object) } }
            }
        }
        read(Mutated.owners)
        read(Mutated.notes)
        read(Mutated.ticks, by: 37)
        read(Mutated.keys)
        if let failure { throw failure }
    }
}

/// Observes a collection once: what it is, and the next change.
actor MutatedObserver {
    func observe(_ configuration: Realm.Configuration) async throws {
        let realm = try await Realm(configuration: configuration, actor: self)
        defer { realm.close() }
        try realm.requireReadable(Mutated.Owner.self)
        var changes = realm.objects(Mutated.Owner.self).changes().makeAsyncIterator()
        guard let first = await changes.next() else { throw MutatedUse.Violation(words: "no first delivery") }
        if case .error(let error) = first { throw error }
        let key = 2_000_000
        try await realm.asyncWrite { _ = try realm.insert(Mutated.Owner.self, value: ["id": key, "mood": "calm"]) }
        guard let second = await changes.next() else { throw MutatedUse.Violation(words: "no delivery of a commit") }
        switch second {
        case .initial: throw MutatedUse.Violation(words: "a second first delivery")
        case .error(let error): throw error
        case .update(let owners, _, let insertions, _):
            try owners.requireReadable()
            guard let place = insertions.first, insertions.count == 1, try owners[place].value(of: \.id) == key else {
                throw MutatedUse.Violation(words: "an insertion was told as \(insertions)")
            }
        }
    }
}
