public import Dispatch
public import Foundation
import RealmStorage

extension Realm {
    /// Opens a realm for the caller's actor, for a queue, or for the current synchronous call.
    ///
    /// Inside an actor's method, and in what that calls, it is the actor's realm; on a queue that a realm is open on, that one, also
    /// where the queue targets another one with a realm.
    /// Elsewhere it belongs to the current thread and task for as long as the current synchronous call runs. There is one realm
    /// of a file in each such place: opening it again gives the same, also inside a write transaction. Blocks while the file is
    /// opened or migrated: in asynchronous code write `try await Realm()`.
    ///
    /// A queue that is passed must be serial, and the one that runs the caller. Throws `Realm.Error`.
    ///
    /// Queues that target one queue, and an actor whose executor uses it, keep each other from running, and yet each has a realm
    /// of its own. Do not leave a transaction open in one of them from one block to the next while another one writes with a
    /// call that blocks: that call waits for ever, unless the realm with the transaction can tell that the caller runs there.
    /// Then the call throws `.alreadyInWriteTransaction`: so it is with a realm of a queue that the caller's queue or executor
    /// targets, and with one of an actor whose executor answers `isIsolatingCurrentContext()`.
    public convenience init(
        configuration: Configuration = .defaultConfiguration,
        queue: DispatchQueue? = nil,
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line
    ) throws {
        let place =
            try queue.map { try RealmIsolation($0, for: configuration) } ?? isolation.map { RealmIsolation($0) }
        self.init(existing: try Self.openBlocking(configuration, place, ReaderOrigin(fileID: file, line: line)))
    }

    /// Opens the realm of a file with otherwise default settings, as `Realm(configuration:)` does.
    public convenience init(
        fileURL: URL,
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line
    ) throws {
        var configuration = Configuration.defaultConfiguration
        configuration.fileURL = fileURL
        let place = isolation.map { RealmIsolation($0) }
        self.init(existing: try Self.openBlocking(configuration, place, ReaderOrigin(fileID: file, line: line)))
    }

    /// Opens a realm for an event loop of your own.
    ///
    /// - Throws: `Realm.Error`; `wrongIsolation` when the caller does not run in the scheduler's context.
    public convenience init(
        configuration: Configuration,
        scheduler: any RealmScheduler,
        file: StaticString = #fileID,
        line: UInt = #line
    ) throws {
        let origin = ReaderOrigin(fileID: file, line: line)
        self.init(existing: try Self.openBlocking(configuration, .scheduler(scheduler), origin))
    }

    /// Opens a realm for the caller's actor; opening, migrating and compacting happen off it.
    ///
    /// - Throws: `Realm.Error`, `wrongIsolation` when the caller runs on no actor; `CancellationError`.
    public convenience init(
        configuration: Configuration = .defaultConfiguration,
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        let origin = ReaderOrigin(fileID: file, line: line)
        self.init(existing: try await Self.openSuspending(configuration, isolation, origin))
    }

    /// Opens a realm for an actor; call it on that actor.
    ///
    /// This is the form for an actor's own `init`:
    ///
    /// ```swift
    /// actor Store {
    ///     var realm: Realm!
    ///     init() async throws { realm = try await Realm(actor: self) }
    /// }
    /// ```
    ///
    /// - Throws: `Realm.Error`, `wrongIsolation` when the caller runs elsewhere; `CancellationError`.
    public convenience init<A: Actor>(
        configuration: Configuration = .defaultConfiguration,
        actor: A,
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        guard isolation === actor else {
            throw Realm.Error(
                .wrongIsolation,
                "`Realm(actor:)` was called from \(isolation.map { "the actor \(type(of: $0))" } ?? "outside every actor"): "
                    + "call it on \(type(of: actor)), for example from one of its methods.",
                fileURL: configuration.fileURL
            )
        }
        let origin = ReaderOrigin(fileID: file, line: line)
        self.init(existing: try await Self.openSuspending(configuration, isolation, origin))
    }

    /// Opens a realm for the caller's actor, as `try await Realm()` does.
    public static func open(
        configuration: Configuration = .defaultConfiguration,
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Realm {
        try await openSuspending(configuration, isolation, ReaderOrigin(fileID: file, line: line))
    }

    /// Opens a realm for the caller's actor, unless the file's schema has to be brought up to date and the turn to write does
    /// not come in time.
    ///
    /// - Throws: `Realm.Error` with the code `.timedOut`, whose message names who has the write lock; and what
    ///   `open(configuration:)` throws.
    public static func open(
        configuration: Configuration = .defaultConfiguration,
        timeout: Duration,
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Realm {
        let origin = ReaderOrigin(fileID: file, line: line)
        let deadline = WriteRequest.deadline(after: timeout)
        return try await openSuspending(configuration, isolation, origin, deadline: deadline)
    }

    /// Opens a realm for the actor that is passed and that the caller runs on.
    public static func open(
        configuration: Configuration = .defaultConfiguration,
        _isolation isolation: isolated any Actor,
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Realm {
        try await openSuspending(configuration, isolation, ReaderOrigin(fileID: file, line: line))
    }

    /// Opens a realm in the background and hands it over on a queue.
    ///
    /// `callback` receives the realm, which is bound to `callbackQueue`, or the error, on that queue. Cancel the returned
    /// task to have it never called.
    @available(*, deprecated, message: "Use `try await Realm.open(configuration: configuration)`.")
    @discardableResult
    public static func asyncOpen(
        configuration: Configuration = .defaultConfiguration,
        callbackQueue: DispatchQueue = .main,
        callback: @escaping (Result<Realm, any Swift.Error>) -> Void
    ) -> AsyncOpenTask {
        let task = AsyncOpenTask(configuration, on: callbackQueue, callback)
        task.begin()
        return task
    }

    /// Opens a realm for the time of a block, and closes it afterwards unless it was opened otherwise, too.
    ///
    /// Of several blocks that overlap on one actor, the last one closes it.
    public static func withRealm<Result>(
        configuration: Configuration = .defaultConfiguration,
        isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ body: (Realm) async throws -> Result
    ) async throws -> Result {
        let origin = ReaderOrigin(fileID: file, line: line)
        let realm = try await openSuspending(configuration, isolation, origin, use: .block)
        defer { realm.endBlock() }
        return try await body(realm)
    }

    /// Opens or finds the file, and makes it fit the classes of the program.
    ///
    /// Blocks.
    static func prepare(
        _ configuration: Configuration,
        for opener: Opener = Opener()
    ) throws -> RealmCoordinator {
        let declared = try DeclaredSchema.make(for: configuration)
        func open(_ configuration: Realm.Configuration) throws -> UnfitFile.Preparation {
            while true {
                let coordinator = try RealmRegistry.shared.coordinator(for: configuration)
                opener.didFind?(coordinator)
                // Before the schema is looked at: what comes behind that counts as a change.
                let version = coordinator.file.newestVersion
                do {
                    try coordinator.reconcile(with: declared, configuration: configuration, for: opener)
                    return .fits(coordinator)
                } catch Realm.Error.closed where coordinator.isEnded {
                    // Its life ended meanwhile: the next one begins.
                } catch let error as Realm.Error
                    where error.code == .schemaMismatch && configuration.deleteRealmIfMigrationNeeded
                {
                    let file = coordinator.isTemporary ? nil : UnfitFile(coordinator: coordinator, version: version)
                    return .isUnfit(file, error)
                }
            }
        }
        var wanted = configuration
        var (attempts, deletions) = (0, 0)
        while true {
            switch try open(wanted) {
            case .fits(let coordinator): return coordinator
            case .isUnfit(let file, let error):
                guard attempts < patience else { throw error }
                attempts += 1
                if let file {
                    // What another opening has made of it meanwhile is looked at, and not deleted.
                    guard try file.delete(for: wanted, opener, isLast: attempts == patience) else { continue }
                } else {
                    try deleteFiles(for: wanted)
                }
                deletions += 1
                // The seed would have to be migrated as well.
                if deletions == 2 { wanted.seedFilePath = nil }
            }
        }
    }

    /// Opens the realm of an isolation, or of the place where the caller is found to run.
    private static func openBlocking(
        _ configuration: Configuration,
        _ place: RealmIsolation?,
        _ origin: ReaderOrigin
    ) throws -> Realm {
        guard place?.isCurrent ?? true else {
            throw Realm.Error(
                .wrongIsolation,
                "Realm opened from incorrect dispatch queue or scheduler: it was asked for \(place!), and opened from "
                    + "\(RealmIsolation.currentDescription).",
                fileURL: configuration.fileURL
            )
        }
        var opener = Opener(origin: origin)
        var attempts = 0
        while true {
            opener.key = (place ?? .current).key
            let coordinator = try prepare(configuration, for: opener)
            do {
                return try coordinator.core(orCurrent: place, configuration: configuration, origin: origin).realm()
            } catch Realm.Error.schemaOutdated where attempts < patience {
                attempts += 1
            } catch Realm.Error.closed where coordinator.isEnded {
                // Its life ended meanwhile: the next one begins.
            }
        }
    }

    /// So often an opening begins anew because others changed the schema, or the file, meanwhile.
    static var patience: Int { 16 }

    private static func openSuspending(
        _ configuration: Configuration,
        _ isolation: isolated (any Actor)?,
        _ origin: ReaderOrigin,
        deadline: ContinuousClock.Instant? = nil,
        use: RealmUse = .lasting
    ) async throws -> Realm {
        guard let isolation else {
            throw Realm.Error(
                .wrongIsolation,
                "A realm was opened asynchronously outside every actor: open it with `try await Realm()` in a method of an "
                    + "actor, or of a global actor, or with `try Realm()` in a synchronous function.",
                fileURL: configuration.fileURL
            )
        }
        let place = RealmIsolation(isolation)
        let opener = Opener(origin: origin, deadline: deadline)
        var attempts = 0
        while true {
            let coordinator: RealmCoordinator
            if let known = try prepared(configuration, for: place) {
                coordinator = known
            } else {
                coordinator = try await prepareElsewhere(configuration, opener, for: place)
            }
            do {
                return try coordinator.core(for: place, configuration: configuration, origin: origin, use: use).realm()
            } catch Realm.Error.schemaOutdated where attempts < patience {
                attempts += 1
            } catch Realm.Error.closed where coordinator.isEnded {
                // Its life ended meanwhile: the next one begins.
            }
        }
    }

    /// The file when it is open already and fits the classes of the program.
    private static func prepared(
        _ configuration: Configuration,
        for place: RealmIsolation
    ) throws -> RealmCoordinator? {
        guard let coordinator = RealmRegistry.shared.existing(at: try OpenSettings(configuration).path),
            configuration.shouldCompactOnLaunch == nil || !coordinator.isLeft,
            coordinator.existingCore(for: place) != nil || !coordinator.isForsaken,
            // The opening is refused where it looks for the file itself.
            configuration.readOnly || !coordinator.isReadOnly
        else { return nil }
        do {
            guard try coordinator.isReconciled(with: DeclaredSchema.make(for: configuration)) else { return nil }
            if configuration.verification.contains(.inBackground) {
                // Its life does not end meanwhile, which would be told as damage.
                try coordinator.opening { try coordinator.verifyInBackground(as: configuration) }
            }
            return coordinator
        } catch {
            // Its life ended meanwhile: the next one begins.
            if coordinator.isEnded { return nil }
            throw Realm.Error.wrap(error, path: coordinator.path)
        }
    }

    /// The file, opened on a thread, by this opening or by another one.
    private static func prepareElsewhere(
        _ configuration: Configuration,
        _ opener: Opener,
        for place: RealmIsolation,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> RealmCoordinator {
        let path = try OpenSettings(configuration).path
        var isBeside = false
        while true {
            try Task.checkCancellation()
            switch await OpeningScheduler.shared.open(configuration, at: path, for: opener, beside: isBeside) {
            case .ended(let result):
                try Task.checkCancellation()
                return try result.get()
            case .look(let found):
                defer { withExtendedLifetime(found) {} }
                if let known = try prepared(configuration, for: place) { return known }
                // It is open, and has to be made to fit, or has ended meanwhile.
                isBeside = true
            case .cancelled: throw CancellationError()
            }
        }
    }
}

/// Who opens a realm, and how long that may take.
struct Opener: Sendable {
    /// The isolation whose thread the opening blocks.
    var key = RealmIsolation.Key.none
    /// Where in the program.
    var origin: ReaderOrigin?
    var deadline: ContinuousClock.Instant?
    var cancellation: OpeningCancellation?
    /// Called when the file is open, before it is made to fit; more than once where it is opened anew.
    var didFind: (@Sendable (RealmCoordinator) -> Void)?
}
