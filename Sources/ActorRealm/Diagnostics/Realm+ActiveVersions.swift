import Logging
import RealmStorage

extension Realm {
    /// A version of the file that somebody reads, and that therefore keeps space which newer versions gave up.
    public struct ActiveVersion: Sendable, Hashable, CustomStringConvertible {
        /// The version.
        public let version: UInt64
        /// For how long its oldest reader has stood there; a suspended machine's sleep counts.
        public let age: Duration
        /// The process of that reader, as it knows itself: in containers several may have the same number.
        public let processID: Int32
        /// Whether it is this process.
        public let isThisProcess: Bool
        /// Where the realms of this process that stand there, or that were frozen there, were opened: `Module/File.swift:12`.
        public let openedAt: [String]
        /// Where the observers of this process that stand there were registered, by `changes()` or `observe`, because they have
        /// not asked for what was committed since.
        ///
        /// Observers of ``Realm/changes`` are listed with the place where their realm was opened.
        public let observedAt: [String]
        /// The above in a sentence.
        public let description: String

        init(_ version: RealmStorage.ActiveVersion) {
            self.version = version.version
            age = .seconds(version.seconds)
            processID = version.processID
            isThisProcess = version.isThisProcess
            openedAt = version.origins
            observedAt = version.observers
            description = version.description
        }
    }

    /// The versions that readers of all processes stand at, oldest first.
    ///
    /// A realm that is not refreshed, a frozen object that is kept, an observer that does not take its changes: each holds a
    /// version, and with it the space that was given up since. This tells which, for how long, and where it was opened.
    ///
    /// ```swift
    /// for version in realm.activeVersions where version.age > .seconds(60) { logger.warning("\(version)") }
    /// ```
    public var activeVersions: [ActiveVersion] {
        core.checkAccess()
        if core.isClosed { return [] }
        return core.coordinator.file.activeVersions().map(ActiveVersion.init)
    }
}
