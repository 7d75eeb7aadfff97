import CRealmShims
import Foundation
import Logging
import RealmModel
import RealmStorage
import Synchronization

/// Everything that the realms of one file share in this process: the file, its writers, its threads, and who listens for
/// new versions.
final class RealmCoordinator: Sendable {
    /// Names a listener.
    struct ListenerID: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// The open file.
    let file: StorageFile
    /// Where the file is, for messages.
    let path: String
    /// Whose turn it is to write.
    let writes: WriteScheduler
    /// Runs what blocks in the device.
    let io: FileActor
    /// What observers share.
    let observations: ObservationHub
    private let settings: OpenSettings
    /// What is removed with the last user of a file that vanishes.
    let temporary: TemporaryRealmFile?
    let state = Mutex(State())
    /// Tells of versions, in their order.
    let relay: VersionRelay
    /// Gives space back.
    let space: SpaceKeeper
    /// The frozen copies and references that need a version of the file.
    let copyCount = Atomic(0)
    /// The last commit that found no space beside those which owe their pages.
    let spaceRefusal = Mutex<SpaceRefusal?>(nil)
    /// Whether realms are gone that may be known still.
    let hasGone = Atomic(false)
    private let identities = CommitIdentity.Source()
    /// Called behind a look for open realms, and at what is declared while rules go, for tests.
    // Unsafe because only a test sets them, before the thread that is to look begins.
    nonisolated(unsafe) var didLookForRealms, didLookForRules: (() -> Void)?

    init(file: StorageFile, path: String, settings: OpenSettings, temporary: TemporaryRealmFile? = nil) {
        self.file = file
        self.path = path
        self.settings = settings
        self.temporary = temporary
        let relay = VersionRelay()
        self.relay = relay
        let io = FileActor()
        self.io = io
        observations = ObservationHub(file: file, ioThread: io.thread)
        let space = SpaceKeeper(file: file)
        self.space = space
        writes = WriteScheduler(
            file: file,
            ioThread: io.thread,
            clock: settings.clock,
            report: { relay.warn(of: $0) },
            didPublish: { version in
                relay.announce(version)
                space.commitWasPublished()
            }
        )
        leavesPages = file.leavesPages
        space.attach(writes)
        relay.attach(self)
        let observations = WeakReference(observations)
        file.pinHolders.attach { observations.object?.holders ?? [] }
        let coordinator = WeakReference(self)
        self.observations.attach { coordinator.object?.refreshRealms() }
    }

    deinit {
        // A forked child has none of the threads, and everything else is its parent's.
        guard file.isOfThisProcess else { return }
        stopThreads()
        // A thread that makes one keeps the file open.
        file.endCheckpoint()
        // A thread that has something to do with the file yet may do so when the process ends.
        file.closeLogUnlessWritten()
        temporary?.remove()
    }

    /// Has nothing read or write the file in the background any more.
    func stopThreads() {
        let (watcher, verifier) = state.withLock { ($0.watcher, $0.verifier) }
        watcher?.stop()
        verifier?.stop()
        space.stop()
        writes.endKeeping()
    }

    /// A logger of those that have the file open; that of its first opening where none of them has one.
    var logger: Logger {
        let registrations = state.withLock { $0.registrations }
        return registrations.lazy.compactMap(\.logger).first ?? settings.logger ?? Logger.shared
    }

    /// What the record of the commit says whose turn it is.
    var recordHeading: RecordHeading {
        RecordHeading(time: Int64(Date().timeIntervalSince1970 * 1_000), identity: identities.next())
    }

    /// Whether commits may be left without pages.
    let leavesPages: Bool

    /// Whether the file vanishes with its last user.
    var isTemporary: Bool { settings.isTemporary }

    /// Whether both are of one path, be it in two lives of its file.
    func isOfSamePath(as other: RealmCoordinator) -> Bool {
        TextBytes.areEqual(settings.path, other.settings.path)
    }

    /// Whether the file was opened for reading only.
    var isReadOnly: Bool { settings.isReadOnly }

    // MARK: Realms of this file

    /// The realm of an isolation: the one that is open there, or a new one.
    ///
    /// `use` says what for.
    ///
    /// - Throws: `incompatibleSession` when it is open there with settings that exclude these.
    func core(
        for isolation: RealmIsolation,
        configuration: Realm.Configuration,
        origin: ReaderOrigin? = nil,
        use: RealmUse = .found
    ) throws -> RealmCore {
        // Whoever opens a file whose schema has changed gets a realm that follows it.
        let before = existingCore(for: isolation)
        if let before, use == .found || before.outdated.reason == nil {
            return try before.reopened(with: configuration, for: use)
        }
        return try opening {
            if use != .found { try checkRulesAreDeclared(for: configuration) }
            let core: RealmCore
            do {
                core = RealmCore(
                    configuration: configuration,
                    coordinator: self,
                    isolation: isolation,
                    model: try makeView(origin),
                    origin: origin
                )
                try core.followSchema()
                try remember(core, inPlaceOf: before)
            } catch {
                throw Realm.Error.wrap(error, path: path)
            }
            if use == .block { core.blockCount = 1 }
            return core
        }
    }

    /// The open realm of an isolation.
    func existingCore(for isolation: RealmIsolation) -> RealmCore? {
        if case .scheduler = isolation {
            let registrations = state.withLock { Array($0.cores.values) }
            return registrations.first { $0.isolation.isSame(as: isolation) }?.openCore
        }
        let key = isolation.key
        guard let registration = state.withLock({ $0.cores[key] ?? $0.passing[key] }),
            registration.isolation.isSame(as: isolation)
        else { return nil }
        return registration.openCore
    }

    /// The realm of the place where the caller is found to run: the one that is open there, or a new one.
    ///
    /// - Throws: `incompatibleSession` when it is open there with settings that exclude these.
    func coreForCurrentContext(
        configuration: Realm.Configuration,
        origin: ReaderOrigin? = nil,
        use: RealmUse = .found
    ) throws -> RealmCore {
        var place = RealmIsolation.current
        // What runs on an actor is the actor's, whatever queue that uses.
        if crealm_current_executor().identity == 0 || !place.canPost {
            let asked = state.withLock { $0.cores.values.filter { $0.isolation.isToBeAsked } }
            place = asked.running(insteadOf: place)?.isolation ?? place
        }
        return try core(for: place, configuration: configuration, origin: origin, use: use)
    }

    /// The realm of an isolation that an opening names, or of the place where it runs, to stay open.
    func core(
        orCurrent isolation: RealmIsolation?,
        configuration: Realm.Configuration,
        origin: ReaderOrigin
    ) throws -> RealmCore {
        guard let isolation else {
            return try coreForCurrentContext(configuration: configuration, origin: origin, use: .lasting)
        }
        return try core(for: isolation, configuration: configuration, origin: origin, use: .lasting)
    }

    /// The realm of an actor, for what runs on it.
    func realm(isolatedTo actor: isolated any Actor, configuration: Realm.Configuration) throws -> Realm {
        try core(for: RealmIsolation(actor), configuration: configuration).realm()
    }

    /// Makes a core known: the next opening in its isolation finds it, and it follows new versions.
    ///
    /// - Throws: `limit` when it can not follow them, for want of a thread; it is not known then.
    func remember(
        _ core: RealmCore,
        inPlaceOf outdated: RealmCore? = nil,
        asSuccessorOf before: RealmCore? = nil
    ) throws(StorageError) {
        let registration = core.registration
        forgetDead()
        let key = core.isolation.key
        let isLasting = core.isolation.isLasting
        if isLasting, core.isolation.canPost { try watchVersions() }
        state.withLock { state in
            state.isLeft = false
            if let before, let place = state.replaced.firstIndex(where: { $0.isOf(before) }) {
                // The realm of that place is another one.
                state.replaced[place] = registration
                return
            }
            if let outdated {
                // A scheduler may be known by another key.
                state.cores = state.cores.filter { !$0.value.isOf(outdated) }
                state.replaced.append(outdated.registration)
            }
            if isLasting { state.cores[key] = registration } else { state.passing[key] = registration }
        }
        // What was committed since the core took hold of its version was told to those that were known then.
        if isLasting, file.isAhead(of: core.model.snapshot) { registration.postRefresh() }
    }

    /// Forgets a core that was closed.
    func forget(_ core: RealmCore) {
        state.withLock { state in
            let key = core.isolation.key
            if state.cores[key]?.isOf(core) == true { state.cores[key] = nil }
            if state.passing[key]?.isOf(core) == true { state.passing[key] = nil }
            state.replaced.removeAll { $0.isOf(core) }
            state.isLeft = true
        }
    }

    /// Whether a realm was closed last, and none is open.
    var isLeft: Bool { state.withLock { $0.isLeft } && !hasOpenRealms }

    /// Whether any realm of this file is open in this process.
    var hasOpenRealms: Bool {
        let isOpen = state.withLock { $0.registrations }.contains { $0.isAlive }
        didLookForRealms?()
        return isOpen
    }

    /// Whether no realm of it is open, and nobody can write through it any more, so that whoever opens the path begins anew.
    ///
    /// Its file was deleted or replaced, or has stopped writing after a failed flush.
    var isForsaken: Bool { isEnded || (file.hasStopped || !file.isInPlace) && !hasOpenRealms }

    // MARK: The end

    /// Whether the life of the file is over in this process: what is pinned can be read, and whoever opens it begins anew.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Why nothing but what is pinned can be read any more.
    var ended: StorageError {
        if isTemporary {
            return StorageError(
                .ended,
                "This in-memory realm was closed, and its contents are gone. Open it again, to begin an empty one."
            )
        }
        let message = "The realm was closed, and its file deleted or compacted. Open it again."
        return StorageError(.ended, message, path: path)
    }

    /// Runs a step of an opening, during which the life of the file does not end.
    ///
    /// - Throws: `closed` when it is over already, and what `body` throws.
    func opening<Result>(_ body: () throws -> Result) throws -> Result {
        let isEnded = state.withLock { state in
            if state.isEnded { return true }
            state.openings += 1
            state.openingCount += 1
            return false
        }
        if isEnded { throw Realm.Error(storage: ended, path: path) }
        do {
            let result = try body()
            state.withLock { $0.openings -= 1 }
            return result
        } catch {
            state.withLock { $0.openings -= 1 }
            // What was closed meanwhile has not ended for this. What was only let go of stays with its frozen copies.
            if isLeft { realmWasClosed() }
            throw error
        }
    }

    /// Whether the file is used by nobody who could read another version than the one he has; it then ends.
    ///
    /// - Parameter countsCopies: Whether frozen copies and references that are left are users as well.
    /// - Returns: nil while a realm of it is open.
    func endUnlessUsed(countingCopies countsCopies: Bool = false) -> Bool? {
        // Before it is looked for realms: an opening that ends meanwhile leaves one.
        let count = state.withLock { $0.openings == 0 ? $0.openingCount : nil }
        if hasOpenRealms { return nil }
        // Copies come from realms that are open, and from those who iterate changes.
        if observations.memberCount.load(ordering: .sequentiallyConsistent) > 0 { return false }
        if countsCopies, copyCount.load(ordering: .sequentiallyConsistent) > 0 { return false }
        return state.withLock { state in
            guard state.openings == 0, state.openingCount == count else { return false }
            state.isEnded = true
            return true
        }
    }

    /// Throws when two openings of the file in one process exclude each other.
    func checkCompatible(_ first: Realm.Configuration, with second: Realm.Configuration) throws(Realm.Error) {
        func mismatch(_ what: String) -> Realm.Error {
            Realm.Error(
                .incompatibleSession,
                "Realm at path '\(path)' already opened with different \(what).",
                fileURL: second.fileURL
            )
        }
        if first.readOnly != second.readOnly { throw mismatch("read permissions") }
        if first.inMemoryIdentifier != second.inMemoryIdentifier { throw mismatch("inMemory settings") }
        if first.encryptionKey != second.encryptionKey { throw mismatch("encryption key") }
        if first.schemaVersion != second.schemaVersion { throw mismatch("schema version") }
    }

    // MARK: New versions

    /// Calls `listener` with the version after each durable commit of any process, on an internal thread or on that of
    /// a synchronous writer.
    ///
    /// It must be quick, and must not write.
    func addVersionListener(_ listener: @escaping @Sendable (UInt64) -> Void) -> ListenerID {
        let id = state.withLock { state in
            let id = ListenerID(number: state.nextListener)
            state.nextListener += 1
            state.listeners.append((id, listener))
            return id
        }
        watchVersionsOrReport()
        return id
    }

    /// Has an observer taken to new versions, until it unregisters.
    func register(_ observer: ObservationMember) {
        observations.register(observer)
        watchVersionsOrReport()
    }

    /// Ends what ``addVersionListener(_:)`` began.
    func removeVersionListener(_ id: ListenerID) {
        state.withLock { state in state.listeners.removeAll { $0.id == id } }
    }

    /// Tells realms and listeners of a version; called in the order of the versions.
    func versionPublished(_ version: UInt64) {
        let (listeners, coreCount) = state.withLock { ($0.listeners, $0.cores.count) }
        for listener in listeners { listener.body(version) }
        // Observers bring their realms with them, and many realms are not a writer's to be woken.
        let isTakenOver = observations.versionPublished(version, takesRealmsOver: coreCount > 4)
        if !isTakenOver { refreshRealms() }
    }

    /// Has the realms follow the newest version, each in its isolation.
    private func refreshRealms() {
        for core in state.withLock({ Array($0.cores.values) }) { core.postRefresh() }
    }

    /// Watches for the commits of other processes, from the first call on.
    ///
    /// - Throws: `limit` when the system starts no thread for it; the next call tries again.
    private func watchVersions() throws(StorageError) {
        guard !settings.isReadOnly, let signal = file.versionSignal else { return }
        try state.withLock { state throws(StorageError) in
            // Behind the end nobody would stop it.
            if state.watcher != nil || state.isEnded { return }
            let watcher = VersionWatcher(signal: signal, relay: relay)
            try watcher.start()
            state.watcher = watcher
        }
    }

    /// Watches for the commits of other processes where nothing can be thrown.
    private func watchVersionsOrReport() {
        do throws(StorageError) {
            try watchVersions()
        } catch {
            Logger.shared
                .error(
                    "Observers are not told of other processes' commits until another one registers.",
                    metadata: ["realm.path": "\(path)", "error": "\(error)"]
                )
        }
    }

    /// Reads the file in the background when a configuration asks for that, once.
    ///
    /// - Throws: `limit` when the system starts no thread for it.
    func verifyInBackground(as configuration: Realm.Configuration) throws {
        guard configuration.verification.contains(.inBackground) else { return }
        do {
            try state.withLock { state throws(StorageError) in
                if state.verifier != nil { return }
                let verifier = BackgroundVerifier(file: file, configuration: configuration)
                try verifier.start()
                state.verifier = verifier
            }
        } catch {
            throw Realm.Error.wrap(error, path: path)
        }
    }

    // MARK: Schema

    /// Whether the file is known to fit a schema.
    ///
    /// Another process may have changed that since: the stamp of the newest version tells.
    func isReconciled(with declared: DatabaseSchema) throws(StorageError) -> Bool {
        guard let known = state.withLock({ $0.reconciled }), known.declared == declared else { return false }
        if known.version == file.newestVersion { return true }
        let snapshot = try file.beginRead()
        guard try DatabaseSchema.stamp(of: snapshot) == known.stamp else { return false }
        setReconciled(with: declared, at: snapshot.version, stamp: known.stamp)
        return true
    }

    /// Notes, for all processes, on which indexes and rules realms of this one rely.
    ///
    /// They stay noted until a schema is declared while no realm of the file is open in this process, or that closes the file. For an
    /// opening, inside ``opening(_:)``.
    ///
    /// - Returns: Whether those that the file has stay; false where a commit that is under way may drop some.
    @discardableResult
    func declareRules(of declared: DatabaseSchema) -> Bool {
        file.declareRules(declared.ruleNumbers) {
            // Before it is looked for realms: an opening that ends meanwhile leaves one.
            guard let count = state.withLock({ $0.openings == 1 ? $0.openingCount : nil }), !hasOpenRealms else {
                return false
            }
            return state.withLock { state in
                guard state.openings == 1, state.openingCount == count else { return false }
                // Whoever opens the file by the schema before has to declare that anew.
                state.reconciled = nil
                return true
            }
        }
    }

    /// Notes that a version of the file fits a schema.
    func setReconciled(with declared: DatabaseSchema, at version: UInt64, stamp: UInt64) {
        state.withLock { $0.reconciled = Reconciled(declared: declared, version: version, stamp: stamp) }
    }

    /// Notes the schema of the file, and what the program calls its classes.
    ///
    /// What one opening calls a class is not forgotten for another, which does not declare it.
    func setReadSchema(_ schema: DatabaseSchema) {
        let hasNames = schema.hasUnrecordedNames
        state.withLock { state in
            if !hasNames, let known = state.readSchema, known.hasUnrecordedNames { return }
            state.readSchema = schema
        }
    }

    /// A view of the newest version.
    func makeView(_ origin: ReaderOrigin?) throws(StorageError) -> ModelView {
        try ModelView(snapshot: file.beginRead(from: origin), schema: state.withLock { $0.readSchema })
    }

    /// Throws when a version does not have the classes of a configuration as they are declared; for observers, on any thread.
    func checkSchema(_ stored: DatabaseSchema, declaredBy objectTypes: [ObjectBase.Type]?) throws {
        let types = objectTypes.map { $0.map { ObjectIdentifier($0) } }
        if let fitting = state.withLock({ $0.fitting }), fitting.stamp == stored.stamp, fitting.types == types {
            return
        }
        let classes = try ModelSchema.cached(objectTypes: objectTypes).classes
        if let fault = SchemaMapping(classes.map(\.schema)).fault(in: stored) {
            throw StorageError.schemaOutdated(fault)
        }
        state.withLock { $0.fitting = (types, stored.stamp) }
    }
}
