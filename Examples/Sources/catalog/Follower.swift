import ActorRealm
import ExampleSupport

/// Follows the packages of a realm on an actor of its own and tells what arrives.
///
/// It keeps the packages' keys in an array and applies every change to it, as a table on a screen would be kept: at the
/// end the array must be the collection, element by element.
actor Follower {
    private var realm: Realm!
    private var keys: [String] = []
    private var isFollowing = false
    private var failure: (any Error)?
    private let isQuiet: Bool

    /// What has arrived since the beginning.
    private(set) var arrived = ImportSummary()
    /// How many elements the sequence had: a slow follower gets several commits in one.
    private(set) var deliveries = 0

    init(configuration: Realm.Configuration, isQuiet: Bool) async throws {
        self.isQuiet = isQuiet
        realm = try await Realm(configuration: configuration, actor: self)
    }

    /// Runs until the task is cancelled.
    func follow() async {
        let packages = realm.objects(Package.self).where { $0.isListed }
        for await change in packages.changes(keyPaths: Package.describedProperties) {
            switch change {
            case .initial(let packages):
                keys = packages.map(\.key)
                isFollowing = true
                tell("follower: begins with \(Figures.count(keys.count, "package"))")
            case .update(let packages, let deletions, let insertions, let modifications):
                apply(packages, deletions, insertions, modifications)
            case .error(let error):
                failure = error
            }
        }
    }

    /// Waits until the follower stands where the collection began.
    func begin() async throws {
        try await wait(for: .seconds(600)) { $0.isFollowing }
    }

    /// Waits until everything that an importer wrote has arrived; says what is missing when it does not.
    func catchUp(with summary: ImportSummary) async throws {
        try await wait(for: .seconds(600)) { $0.arrived == summary.changes }
        guard arrived == summary.changes else {
            throw Mismatch(description: "The importer wrote \(summary.changes), but the follower saw \(arrived).")
        }
        let packages = realm.objects(Package.self).where { $0.isListed }
        guard keys.elementsEqual(packages.map(\.key)) else {
            throw Mismatch(description: "The follower's list and the realm's differ.")
        }
    }

    /// Something did not arrive, or arrived twice.
    struct Mismatch: Error, CustomStringConvertible {
        var description: String
    }

    private func wait(for limit: Duration, until condition: (isolated Follower) -> Bool) async throws {
        let deadline = ContinuousClock.now + limit
        while !condition(self), ContinuousClock.now < deadline {
            if let failure { throw failure }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private func apply(_ packages: Results<Package>, _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]) {
        // Modifications and deletions are positions in the collection as it was, insertions as it is.
        let updated = modifications.map { keys[$0] }
        let removed = deletions.map { keys[$0] }
        replaceKeys(deletions: deletions, insertions: insertions, packages)
        deliveries += 1
        arrived += ImportSummary(added: insertions.count, updated: modifications.count, removed: deletions.count)
        guard !isQuiet else { return }
        var lines: [String] = []
        lines += insertions.prefix(4).map { "  + \(packages[$0].key) \(packages[$0].version)" }
        lines += updated.prefix(8)
            .map { key in
                let package = packages.realm?.object(ofType: Package.self, forPrimaryKey: key)
                return "  ~ \(key) \(package?.version ?? "")"
            }
        lines += removed.prefix(8).map { "  - \($0)" }
        let untold = insertions.count + updated.count + removed.count - lines.count
        if untold > 0 { lines.append("  and \(Figures.grouped(untold)) more") }
        let change = ImportSummary(added: insertions.count, updated: updated.count, removed: removed.count)
        tell("follower: \(change), now \(Figures.count(packages.count, "package"))")
        for line in lines { tell(line) }
    }

    private func replaceKeys(deletions: [Int], insertions: [Int], _ packages: Results<Package>) {
        var result: [String] = []
        result.reserveCapacity(packages.count)
        var kept = keys.indices.lazy.makeIterator()
        var deleted = deletions[...]
        var inserted = insertions[...]
        func nextKept() -> String? {
            while let index = kept.next() {
                if deleted.first == index { deleted = deleted.dropFirst() } else { return keys[index] }
            }
            return nil
        }
        for index in 0..<keys.count - deletions.count + insertions.count {
            if inserted.first == index {
                inserted = inserted.dropFirst()
                result.append(packages[index].key)
            } else if let key = nextKept() {
                result.append(key)
            }
        }
        keys = result
    }

    private func tell(_ line: String) {
        if !isQuiet { Console.line(line) }
    }
}
