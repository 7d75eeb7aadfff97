import Synchronization

/// Who pins which version.
package struct ActiveVersion: Sendable {
    package var version: UInt64
    /// For how long the reader that has stood there longest has done so.
    package var seconds: Int
    /// The process of that reader.
    package var processID: Int32
    package var isThisProcess: Bool
    /// Where readers that stand there were opened, when they said so; of another process the one that has stood there longest.
    package var origins: [String]
    /// Where observers of this process that stand there were registered.
    package var observers: [String]
}

extension ActiveVersion: CustomStringConvertible {
    package var description: String {
        let age = seconds < 120 ? "\(seconds) s" : seconds < 7200 ? "\(seconds / 60) min" : "\(seconds / 3600) h"
        var text = "version \(version), held for \(age) by process \(processID)"
        if isThisProcess {
            text += " (this process)"
        }
        if !origins.isEmpty { text += ", by a realm opened at " + origins.joined(separator: " and at ") }
        if isThisProcess {
            if !observers.isEmpty {
                text += ", by an observer registered at " + observers.joined(separator: " and at ")
            }
        }
        return text
    }
}

extension StorageFile {
    /// The versions that readers of all processes stand at, oldest first.
    package func activeVersions() -> [ActiveVersion] {
        guard let lock else { return [] }
        // It clears what dead processes have left.
        _ = try? lock.pinnedVersions()
        var found: [UInt64: ActiveVersion] = [:]
        let observers = pinHolders.all
        for reader in lock.readers() {
            if let known = found[reader.version], known.seconds >= reader.seconds, known.isThisProcess || !reader.isOwn
            {
                continue
            }
            let origins = reader.isOwn ? self.origins(ofPin: reader.version) : reader.place.map { [$0] } ?? []
            found[reader.version] = ActiveVersion(
                version: reader.version,
                seconds: max(reader.seconds, found[reader.version]?.seconds ?? 0),
                processID: reader.process,
                isThisProcess: reader.isOwn,
                origins: origins,
                observers: reader.isOwn
                    ? Self.texts(of: observers.filter { $0.version == reader.version }.map(\.origin)) : []
            )
        }
        return found.values.sorted { $0.version < $1.version }
    }

    /// Whether a reader stood far behind the newest version when the newest write transaction began.
    package var isReaderFarBehind: Bool {
        let newest = newestVersion
        let oldest = oldestPin.load(ordering: .relaxed)
        return oldest < newest && newest - oldest > 1_000
    }

    private func origins(ofPin version: UInt64) -> [String] {
        Self.texts(of: state.withLock { $0.pins[version]?.origins ?? [] })
    }

    private static func texts(of origins: [ReaderOrigin]) -> [String] {
        var texts: [String] = []
        for origin in origins where !texts.contains(origin.description) { texts.append(origin.description) }
        return texts
    }

    /// Throws when more versions are pinned than the options allow.
    func checkActiveVersions(_ pinned: [UInt64], newest: UInt64) throws(StorageError) {
        guard let limit = options.maximumNumberOfActiveVersions, pinned.count > limit else { return }
        let oldest = activeVersions().first.map { "\($0)" } ?? "version \(pinned[0])"
        throw StorageError(
            .limit,
            "Number of active versions (\(pinned.count)) in the Realm exceeded the limit of \(limit); the newest is "
                + "\(newest), the oldest \(oldest). Close or refresh what stands there",
            path: path
        )
    }
}
