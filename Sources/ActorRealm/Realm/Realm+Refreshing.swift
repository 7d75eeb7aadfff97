import Logging
import RealmModel
import RealmStorage

extension Realm {
    /// Whether the realm follows the file by itself: between two jobs of its actor, queue or scheduler.
    ///
    /// True at first.
    ///
    /// - Precondition: It cannot be switched on for frozen realms: look at ``isFrozen``.
    public var autorefresh: Bool {
        get {
            core.checkAccess()
            return core.autorefresh
        }
        set {
            core.checkAccess()
            if core.isFrozen {
                if newValue { misuse("Auto-refresh cannot be enabled for frozen Realms.") }
                return
            }
            core.autorefresh = newValue
            if newValue, !core.isClosed { core.postRefresh() }
        }
    }

    /// Moves the realm and its objects to the newest durable version.
    ///
    /// The blocks that observe the whole realm (``observe(file:line:_:)``) are called before it returns. Does nothing in a write
    /// transaction, on frozen and on closed realms, and in a block that observes something of the realm.
    ///
    /// - Precondition: The realm was not opened read-only: look at ``configuration``.
    /// - Returns: whether there was a newer version.
    @discardableResult
    public func refresh() -> Bool {
        core.checkAccess()
        if core.isClosed { return false }
        if core.configuration.readOnly {
            misuse("Read-only Realms do not change and cannot be refreshed.")
        }
        do {
            if core.blockCalls.isUnderWay { return false }
            let isMoved = try core.advanceToNewest()
            if isMoved { core.tellBlocks() }
            return isMoved
        } catch {
            core.report(error, "A realm could not move to the newest version.")
            return false
        }
    }

    /// Moves the realm and its objects to the newest durable version and waits until the blocks that observe it have been
    /// told.
    ///
    /// The actor runs other jobs meanwhile. Any number of tasks may wait at once; all of them are told of the move that
    /// they wait for. A realm in a write transaction stays where it is.
    ///
    /// - Precondition: The realm was not opened read-only: look at ``configuration``.
    /// - Returns: whether there was a newer version; false when the task was cancelled.
    @discardableResult
    public func asyncRefresh(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        if Task.isCancelled { return false }
        let core = core
        let isMoved = refresh()
        // Another task moved the realm and waits still: this one waits for the same.
        let isMoving = core.refreshesUnderWay[core.version] != nil
        if core.isInWriteTransaction { return false }
        await core.observersAreTold(of: core.version, isMoved: isMoved || isMoving, isolation: isolation)
        return (isMoved || isMoving) && !Task.isCancelled
    }

    /// Moves the realm to the newest version, on the actor that is passed and that the caller runs on.
    ///
    /// - Precondition: The realm was not opened read-only: look at ``configuration``.
    @discardableResult
    public func asyncRefresh(_isolation isolation: isolated any Actor) async -> Bool {
        await asyncRefresh(isolation: isolation)
    }

    /// Invalidates every object and collection reached from the realm so far, and lets go of their version at once.
    ///
    /// A write transaction that is open is rolled back, and where the program has begun it with `beginWrite()`,
    /// `beginWriteTransaction()` or `beginAsyncWrite()`, what it writes then goes nowhere until it ends it, and its commit throws: another
    /// job may have called this.
    /// Asynchronous writes that were asked for before go on. The realm
    /// itself can be used on, at the newest version, of which it takes hold when it is used. A frozen realm is closed.
    public func invalidate() {
        if isClosed { return }
        if isFrozen { return close() }
        if isInvalid { return }
        core.checkAccess()
        endCore()
    }

    /// Closes this instance: the next opening here makes a new one.
    ///
    /// Another job of the actor may hold the realm, or something reached from it, and cannot know that it is closed. Therefore
    /// what throws throws `Realm.Error` with the code `.closed` from now on; everything else is empty: results, collections and
    /// sections have no elements, the properties of objects are zero, empty or nil, observers are not told of anything. Whatever the
    /// position, `list[0]` is zero, empty or nil as well, or an object that ``ThreadConfined/isInvalidated``. What is
    /// written goes nowhere, and its commit throws. The first such use is logged. A frozen realm's contents stay readable for
    /// those that hold them.
    ///
    /// A write transaction that is open is rolled back; commits under way complete. Asynchronous writes that were asked
    /// for before hold the closing back: the realm is open until the last of them is done, and stays open when it is
    /// opened again meanwhile.
    ///
    /// An in-memory realm ends when the last realm of it is closed: whoever opens it again begins an empty one. Frozen copies and
    /// references that are left keep the pages of their versions in memory, each until the last of a version is gone, and no others.
    ///
    /// Not needed in general: a realm closes when nothing refers to it any more.
    public func close() {
        if isClosed {
            if core.isCurrent, !core.isFrozen { core.forgetUnreadable() }
            return
        }
        if !isInvalid { core.checkAccess() }
        // The realm is not held by what waits for its end.
        let isFrozen = isFrozen
        closeWhenQuiet { if !isFrozen { $0.realmWasClosed() } }
    }

    /// A realm that stands on this one's version for good and may be read from any thread and actor.
    ///
    /// It costs nothing to make and pins its version in the file while it lives.
    ///
    /// - Precondition: In a write transaction that changed the schema, the catalogue before it can be read; `ThreadSafeReference`
    ///   takes objects elsewhere without reading it.
    public func freeze() -> Realm {
        core.checkAccess()
        do {
            return try core.freeze()
        } catch {
            misuse("The realm could not be frozen: \(error) Commit the write transaction first.")
        }
    }

    /// The live realm of a frozen one in the caller's isolation; a live realm is returned itself.
    ///
    /// One that stands on an older version than the frozen realm moves on to the newest one.
    ///
    /// Where the file's schema was changed in what the classes declare, and no realm is open here, it is a closed one, which ``isOutdated``.
    ///
    /// - Precondition: The file can be opened here. `try Realm(configuration: frozen.configuration)` throws instead.
    public func thaw(isolation: isolated (any Actor)? = #isolation) -> Realm {
        guard core.isFrozen else {
            core.checkAccess()
            return self
        }
        return thawedInContext(of: isolation)
    }

    /// The live realm of this frozen one: of an actor, or of the isolation that the caller is found to run in.
    func thawedInContext(of actor: (any Actor)? = nil) -> Realm {
        guard core.isFrozen else { return self }
        let place = actor.map { RealmIsolation($0) }
        do {
            do {
                let live = try core.thawedCore(in: place)
                try live.requireAccess()
                live.catchUp(with: core.version)
                return live.realm()
            } catch Realm.Error.closed where core.coordinator.isEnded {
                return try core.closedCore(in: place ?? .current).realm()
            } catch Realm.Error.schemaOutdated {
                return try core.outdatedCore(in: place ?? .current).realm()
            }
        } catch {
            misuse(
                "The realm could not be thawed: \(error) To handle the error, open it: with "
                    + "`try await Realm(configuration: configuration)` on an actor, with "
                    + "`try Realm(configuration: configuration)` in a synchronous function."
            )
        }
    }
}

extension RealmCore {
    /// The live core of a frozen one: of the isolation, or of the one that the caller is found to run in.
    func thawedCore(in place: RealmIsolation? = nil) throws -> RealmCore {
        if let place { return try coordinator.core(for: place, configuration: configuration) }
        return try coordinator.coreForCurrentContext(configuration: configuration)
    }

    /// A live realm of what has ended: a closed one, which is empty.
    fileprivate func closedCore(in place: RealmIsolation) throws(StorageError) -> RealmCore {
        let closed = RealmCore(
            configuration: configuration,
            coordinator: coordinator,
            isolation: place,
            model: try model.duplicate()
        )
        closed.end(as: .closed)
        return closed
    }

    /// A live realm whose classes the file does not have any more as they are declared: a closed one, which says why.
    fileprivate func outdatedCore(in place: RealmIsolation) throws(StorageError) -> RealmCore {
        let closed = try closedCore(in: place)
        do throws(StorageError) {
            try closed.registry.check(coordinator.makeView(nil).schema, after: nil)
        } catch {
            guard error.code == .schemaOutdated else { throw error }
            closed.noteUnreadable(error)
        }
        return closed
    }

    /// Has the core follow the newest version soon, in its isolation.
    func postRefresh() {
        guard isolation.canPost else { return }
        registration.postRefresh()
    }

    /// Waits until every block that observes this realm knows a version.
    func observersAreTold(of version: UInt64, isMoved: Bool, isolation: isolated (any Actor)?) async {
        let waiting = signals.deliverers(before: version)
        if waiting.isEmpty { return }
        if isMoved { refreshesUnderWay[version, default: 0] += 1 }
        for signal in waiting { await signal.waitUntilTold(of: version) }
        guard isMoved, let count = refreshesUnderWay[version] else { return }
        refreshesUnderWay[version] = count > 1 ? count - 1 : nil
    }
}
