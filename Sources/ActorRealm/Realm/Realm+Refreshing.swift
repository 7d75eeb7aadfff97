import Logging
import RealmModel
import RealmStorage

extension Realm {
    /// Whether the realm follows the file by itself: between two jobs of its actor, queue or scheduler.
    ///
    /// True at first.
    ///
    /// - Precondition: It cannot be switched on for frozen realms.
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
            if newValue { core.postRefresh() }
        }
    }

    /// Moves the realm and its objects to the newest durable version.
    ///
    /// Does nothing in a write transaction and on frozen realms.
    ///
    /// - Returns: whether there was a newer version.
    @discardableResult
    public func refresh() -> Bool {
        core.checkAccess()
        if core.configuration.readOnly {
            misuse("Read-only Realms do not change and cannot be refreshed.")
        }
        do {
            return try core.advanceToNewest()
        } catch {
            core.report(error, "A realm could not move to the newest version.")
            return false
        }
    }

    /// Moves the realm and its objects to the newest durable version, as `refresh()` does, from asynchronous code.
    @discardableResult
    public func asyncRefresh(isolation: isolated (any Actor)? = #isolation) async -> Bool {
        Task.isCancelled ? false : refresh()
    }

    /// Moves the realm to the newest version, on the actor that is passed and that the caller runs on.
    @discardableResult
    public func asyncRefresh(_isolation isolation: isolated any Actor) async -> Bool {
        await asyncRefresh(isolation: isolation)
    }

    /// Invalidates every object and collection reached from the realm so far, and lets go of their version.
    ///
    /// A write transaction that is open is rolled back. The realm itself can be used on, at the newest version.
    public func invalidate() {
        core.checkAccess()
        if core.isFrozen { return close() }
        let old = core
        do {
            let new = RealmCore(
                configuration: old.configuration,
                coordinator: old.coordinator,
                isolation: old.isolation,
                model: try ModelView(snapshot: old.coordinator.file.beginRead(from: old.origin)),
                origin: old.origin
            )
            new.autorefresh = old.autorefresh
            replaceCore(with: new)
            new.adopt(self)
            old.coordinator.remember(new)
        } catch {
            old.report(error, "A realm could not be read any more when it was invalidated; it is closed.")
            close()
        }
    }

    /// Closes this instance: it and everything reached from it cannot be used any more, and the next opening here
    /// makes a new one.
    ///
    /// A write transaction that is open is rolled back; commits under way complete.
    ///
    /// Not needed in general: a realm closes when nothing refers to it any more.
    public func close() {
        if core.lifecycle != .open { return }
        core.checkAccess()
        core.coordinator.forget(core)
        core.end(as: .closed)
    }

    /// A realm that stands on this one's version for good and may be read from any thread and actor.
    ///
    /// It costs nothing to make and pins its version in the file while it lives.
    public func freeze() -> Realm {
        core.checkAccess()
        do {
            return try core.freeze()
        } catch {
            misuse("The realm could not be frozen: \(error)")
        }
    }

    /// The live realm of a frozen one in the caller's isolation; a live realm is returned itself.
    public func thaw(isolation: isolated (any Actor)? = #isolation) -> Realm {
        guard core.isFrozen else {
            core.checkAccess()
            return self
        }
        do {
            let place = isolation.map { RealmIsolation($0) }
            return try core.thawedCore(in: place).realm()
        } catch {
            misuse("The realm could not be thawed: \(error)")
        }
    }
}

extension RealmCore {
    /// The live core of a frozen one: of the isolation, or of the one that the caller is found to run in.
    func thawedCore(in place: RealmIsolation? = nil) throws -> RealmCore {
        if let place { return try coordinator.core(for: place, configuration: configuration) }
        if let core = coordinator.coreForCurrentContext() { return core }
        return try coordinator.core(for: .currentThread, configuration: configuration)
    }

    /// Has the core follow the newest version soon, in its isolation.
    func postRefresh() {
        guard isolation.canPost else { return }
        registration.postRefresh()
    }
}
