public import Foundation
public import Logging
import RealmModel
import RealmStorage
import Synchronization

extension Realm {
    /// Which file to open, and how.
    ///
    /// ```swift
    /// var configuration = Realm.Configuration()
    /// configuration.fileURL = URL(fileURLWithPath: "/var/lib/app/todos.realm")
    /// configuration.schemaVersion = 2
    /// let realm = try await Realm(configuration: configuration)
    /// ```
    public struct Configuration: Sendable {
        /// When a commit counts as done.
        public enum Durability: Sendable, Hashable {
            /// After a flush to the device: an acknowledged commit survives a power cut.
            case flushed
            /// When the operating system has it: it survives the process, not the machine. For caches and tests: a power cut may also lose
            /// what other processes have committed to the file before.
            case unflushed
        }

        /// Decides from the file's total and used bytes whether to compact it when it is first opened.
        public typealias CompactionDecision = @Sendable (_ totalByteCount: Int, _ usedByteCount: Int) -> Bool

        private enum Location: Sendable, Hashable {
            case file(URL)
            /// By the bytes of the name, which tell realms in memory apart.
            case memory(TextKey)
            case none
        }

        private static let sharedDefault = Mutex(Configuration())

        /// The configuration of realms that are opened without one: `default.realm` in the working directory, unless
        /// the program says otherwise.
        ///
        /// May be changed from any isolation.
        public static var defaultConfiguration: Configuration {
            get { sharedDefault.withLock { $0 } }
            set { sharedDefault.withLock { $0 = newValue } }
        }

        private var location: Location

        /// The file.
        ///
        /// Setting it makes an in-memory realm one of a file.
        public var fileURL: URL? {
            get { if case .file(let url) = location { url } else { nil } }
            set { location = newValue.map { .file($0) } ?? .none }
        }

        /// The name of a realm that vanishes when the last instance closes; instances that name the same share it.
        ///
        /// Setting it makes a realm of a file one in memory. Such a realm belongs to its process.
        public var inMemoryIdentifier: String? {
            get { if case .memory(let name) = location { name.text } else { nil } }
            set { location = newValue.map { .memory(TextKey($0)) } ?? .none }
        }

        /// The 64-byte key of an encrypted file.
        public var encryptionKey: Data?
        /// Whether the file may only be read; it must exist then.
        public var readOnly: Bool
        /// The version of the classes.
        ///
        /// Raise it when they change.
        public var schemaVersion: UInt64
        /// Brings the content of an older file into the shape of the classes.
        public var migrationBlock: MigrationBlock?
        /// A migration block that can fail, to be used instead of ``migrationBlock``: what it throws, opening throws, and
        /// the file stays as it was.
        public var throwingMigrationBlock: ThrowingMigrationBlock?
        /// What brings a file to each version from the one before, to be used instead of one block.
        ///
        /// ```swift
        /// configuration.schemaVersion = 3
        /// configuration.migrationSteps = [
        ///     2: { migration, _ in migration.renameProperty(onType: "Person", from: "name", to: "fullName") },
        ///     3: { migration, _ in migration.discardValues(ofProperty: "faxNumber", onType: "Person") },
        /// ]
        /// ```
        /// Those above the version of the file, and up to ``schemaVersion``, run in the order of their versions, all in one
        /// transaction. Each receives the version of the file, the objects as the file has them and the classes of the program,
        /// as one block would. Together with a block they are an error, `invalidInput`.
        public var migrationSteps: [UInt64: ThrowingMigrationBlock] = [:]
        /// What a migration does with values that its block never looked at.
        public var migrationLossPolicy = MigrationLossPolicy.warn
        /// Whether a file of another schema version, or that does not fit the classes, is deleted and made anew.
        ///
        /// While a realm of it is open, in this process or in another one, opening it throws `alreadyOpen` instead.
        public var deleteRealmIfMigrationNeeded: Bool
        /// Decides whether to compact the file at its first opening.
        ///
        /// Where another process has the file open, or no new file can be made, as on a full disk, it is left as it is, which the log says.
        /// What opens, compacts or deletes the same file in the block throws `alreadyOpen`.
        public var shouldCompactOnLaunch: CompactionDecision?
        /// A realm file whose newest version is copied when ``fileURL`` does not exist yet; it may be in use.
        public var seedFilePath: URL?
        /// Refuses writes while more than so many versions are pinned by readers; nil for no limit.
        public var maximumNumberOfActiveVersions: UInt?
        /// How many versions an observer may stay behind without asking for a change; nil for any number.
        ///
        /// A loop over `changes()` that does not come back for its next element, or a block on an actor that does not get to
        /// run it, holds the version that it knows in the file. One that is further behind than this lets go of it. What
        /// it is told next is the state as it stands then: `.initial` again for a collection, a map or sections; for an
        /// object a change of all observed properties without old values, or its deletion; for ``Realm/changes`` an
        /// element with `isReset`.
        ///
        /// So many versions later an observer is better off with the state than with the changes: the query is evaluated
        /// anew for either. Observers that ask in time never see this. What holds which version, ``Realm/activeVersions``
        /// tells.
        public var maximumObserverLag: UInt? = 100_000
        /// The model classes of the realm; nil for all of the process.
        public var objectTypes: [ObjectBase.Type]?
        /// When a commit counts as done.
        public var durability = Durability.flushed
        /// When pages are read only to see whether they are whole; ``Verification``.
        public var verification: Verification = []
        /// The most bytes that verification in the background reads in a second.
        public var verificationRate = 16 << 20
        /// Called on a thread of the library when verification in the background has ended, with what it found.
        ///
        /// The logger is told as well.
        public var verificationReport: (@Sendable (VerificationReport) -> Void)?
        /// How long a write waits for the write lock before it throws `.timedOut`; nil for as long as it takes.
        ///
        /// So does an opening that has to bring the file's schema up to date, unless `Realm.open(timeout:)` says another time.
        /// ``Realm/WriteOptions/timeout`` says it for one write. `beginWrite()`, which cannot throw, waits in any case. A wait of more
        /// than ten seconds is logged as a warning that names who has the lock, and again every minute.
        public var writeTimeout: Duration?
        /// Receives what the library has to say; nil for `Logger.shared`, which says warnings and errors while the program has not set it.
        public var logger: Logger?
        /// Puts another device before the file's own, for tests of what fails.
        var makeDevice: (@Sendable (any StorageDevice) -> any StorageDevice)?
        /// Has steps fail that no device reaches, for the same tests.
        var failures: StepFailures?

        /// Whether commits are made durable by their records in a log beside the file, and not by their pages.
        ///
        /// That of the first opening in a process counts; with durability `unflushed` there is no log. What a kill has left in one is applied
        /// by the next opening, with the setting and without.
        package var keepsLog = LogMode.standard.keepsLog
        /// When there is a log, how long it is, and where it stands, for tests.
        var adjustLog: (@Sendable (inout LogOptions) -> Void)?

        /// What tells the writers' time, for tests of long waits.
        var clock = WriteScheduler.Clock.system

        /// Describes a realm.
        public init(
            fileURL: URL? = URL(fileURLWithPath: "default.realm"),
            inMemoryIdentifier: String? = nil,
            encryptionKey: Data? = nil,
            readOnly: Bool = false,
            schemaVersion: UInt64 = 0,
            migrationBlock: MigrationBlock? = nil,
            deleteRealmIfMigrationNeeded: Bool = false,
            shouldCompactOnLaunch: CompactionDecision? = nil,
            objectTypes: [ObjectBase.Type]? = nil,
            seedFilePath: URL? = nil
        ) {
            location = inMemoryIdentifier.map { .memory(TextKey($0)) } ?? fileURL.map { .file($0) } ?? .none
            self.encryptionKey = encryptionKey
            self.readOnly = readOnly
            self.schemaVersion = schemaVersion
            self.migrationBlock = migrationBlock
            self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
            self.shouldCompactOnLaunch = shouldCompactOnLaunch
            self.objectTypes = objectTypes
            self.seedFilePath = seedFilePath
        }
    }
}

extension Realm.Configuration: Equatable {
    /// Compares what decides which file is meant and whether two openings agree on it: key, place, access, and version.
    public static func == (left: Self, right: Self) -> Bool {
        left.encryptionKey == right.encryptionKey && left.location == right.location
            && left.readOnly == right.readOnly && left.schemaVersion == right.schemaVersion
    }
}

extension Realm.Configuration: CustomStringConvertible {
    /// A line for each setting; never the key.
    public var description: String {
        func word(_ isSet: Bool) -> String { isSet ? "(set)" : "(null)" }
        let types = objectTypes.map { "[\($0.map { $0.className() }.joined(separator: ", "))]" } ?? "(null)"
        return """
            Realm.Configuration {
            \tfileURL = \(fileURL?.absoluteString ?? "(null)");
            \tinMemoryIdentifier = \(inMemoryIdentifier ?? "(null)");
            \tencryptionKey = \(word(encryptionKey != nil));
            \treadOnly = \(readOnly ? 1 : 0);
            \tschemaVersion = \(schemaVersion);
            \tmigrationBlock = \(word(migrationBlock != nil || throwingMigrationBlock != nil));
            \tdeleteRealmIfMigrationNeeded = \(deleteRealmIfMigrationNeeded ? 1 : 0);
            \tshouldCompactOnLaunch = \(word(shouldCompactOnLaunch != nil));
            \tobjectTypes = \(types);
            }
            """
    }
}
