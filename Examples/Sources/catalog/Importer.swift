import ActorRealm
import ExampleSupport

/// Brings a realm in line with package lists.
actor Importer {
    // Implicitly unwrapped, so that `self` exists when the realm is opened on it.
    private var realm: Realm!

    init(configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    /// Reads the lists and writes what differs from the realm, in durable batches.
    ///
    /// Where several lists describe a package, the newest version counts. `onCommit` is called after each batch, when it is
    /// durable.
    func run(
        _ sources: [PackageSource],
        batchSize: Int,
        onCommit: @Sendable (_ summary: ImportSummary, _ packages: Int, _ dependencies: Int) -> Void
    ) async throws -> ImportSummary {
        let selection = try PackageSelection(sources)
        var summary = ImportSummary()
        for (source, list) in sources.enumerated() {
            let reader = try PackageRecordReader(list, detail: .everything)
            var batch: [PackageRecord] = []
            var ordinal = 0
            while let record = try reader.next() {
                if selection.chooses(record, ordinal: ordinal, source: source) { batch.append(record) }
                ordinal += 1
                if batch.count == batchSize {
                    summary += try await store(batch)
                    batch.removeAll(keepingCapacity: true)
                    onCommit(summary, packageCount, dependencyCount)
                }
            }
            summary += try await store(batch)
            onCommit(summary, packageCount, dependencyCount)
        }
        summary.removed += try await removeAll(except: selection, batchSize: batchSize)
        return summary
    }

    /// The packages that the lists describe.
    var packageCount: Int { realm.objects(Package.self).where { $0.isListed }.count }

    /// All dependencies.
    var dependencyCount: Int { realm.objects(Dependency.self).count }

    /// Writes the packages of a batch that differ from what the realm holds; most runs find few, and write little.
    private func store(_ batch: [PackageRecord]) async throws -> ImportSummary {
        let realm = realm!
        let differing = batch.filter { record in
            guard let package = realm.object(ofType: Package.self, forPrimaryKey: record.key) else { return true }
            return !package.agrees(with: record)
        }
        var summary = ImportSummary(unchanged: batch.count - differing.count)
        guard !differing.isEmpty else { return summary }
        summary += try await realm.asyncWrite { realm in
            var written = ImportSummary()
            for record in differing { written += realm.store(record) }
            return written
        }
        return summary
    }

    /// Removes the packages that no list describes any more, and those that only they named.
    private func removeAll(except selection: PackageSelection, batchSize: Int) async throws -> Int {
        let realm = realm!
        // Results are lazy, and so is what is derived from them: the keys are collected before anything is written.
        let listed = realm.objects(Package.self).where { $0.isListed }
        let gone = Array(listed.map(\.key).filter { !selection.contains($0) })
        for start in stride(from: 0, to: gone.count, by: batchSize) {
            let keys = gone[start..<min(start + batchSize, gone.count)]
            try await realm.asyncWrite { realm in
                for key in keys {
                    realm.object(ofType: Package.self, forPrimaryKey: key)?.unlist(in: realm)
                }
            }
        }
        let unlisted = realm.objects(Package.self).where { !$0.isListed }
        let unnamed = Array(unlisted.filter { $0.dependents.isEmpty }.map(\.key))
        guard !unnamed.isEmpty else { return gone.count }
        try await realm.asyncWrite { realm in
            for key in unnamed {
                if let package = realm.object(ofType: Package.self, forPrimaryKey: key) { realm.delete(package) }
            }
        }
        return gone.count
    }
}
