import Logging

extension Realm {
    /// A write transaction that was begun without blocking and waits for ``commit(withoutNotifying:isolation:)`` or
    /// ``cancel()``.
    ///
    /// It belongs to the task that began it: what that task does with the realm until then is part of it, and other jobs of
    /// the actor neither see it nor write in it. Let go of without either, it is cancelled, and that is logged.
    public final class AsyncTransaction {
        /// The realm that is being written.
        public let realm: Realm
        private let core: RealmCore
        private let turn: WriteScheduler.Ticket
        /// Whether it was committed or cancelled through this object.
        private var isOver = false

        init(realm: Realm, core: RealmCore, turn: WriteScheduler.Ticket) {
            self.realm = realm
            self.core = core
            self.turn = turn
        }

        deinit {
            if isOver { return }
            if core.isCurrent { return Self.abandon(core, turn) }
            // Used in its isolation only, where it is sent to here: its state must not be looked at from anywhere else.
            nonisolated(unsafe) let core = core
            // Where the isolation is gone, nobody uses the realm any more.
            let end: @Sendable () -> Void = { [turn] in Self.abandon(core, turn) }
            core.isolation.post(end, orElse: end)
        }

        private static func abandon(_ core: RealmCore, _ turn: WriteScheduler.Ticket) {
            // It may have been ended by the realm's own commitWrite or cancelWrite.
            guard core.ticket == turn else {
                core.endLostTransaction(of: turn)
                return
            }
            core.logger
                .warning(
                    "An asynchronous write transaction was let go of without `commit()` or `cancel()`, and is cancelled.",
                    metadata: ["realm.path": "\(core.coordinator.path)"]
                )
            core.cancelTransaction()
            // Nobody waits for what it was built on, which pins a version as long as somebody might.
            _ = core.takeBase()
        }

        /// Commits the transaction; suspends until it is durable.
        ///
        /// - Throws: `Realm.Error` when it could not be written or is not open any more.
        public func commit(
            withoutNotifying tokens: [NotificationToken] = [],
            isolation: isolated (any Actor)? = #isolation
        ) async throws {
            if core.ticket == turn { try core.checkWritable() }
            guard core.ticket == turn else {
                core.endLostTransaction(of: turn)
                if core.isClosed { throw core.closedError }
                throw core.error(.invalidInput, "This write transaction has been committed or cancelled already.")
            }
            defer { isOver = core.ticket != turn }
            try await core.commitSuspending(withoutNotifying: tokens, isolation)
        }

        /// Rolls the transaction back; nothing happens when it is not open any more.
        ///
        /// What it was built on is durable when this returns: it may block the thread for one flush.
        public func cancel() {
            guard core.ticket == turn else { return core.endLostTransaction(of: turn) }
            core.checkAccess()
            isOver = true
            core.cancelTransaction()
            core.settleOrReport()
        }
    }
}

@available(*, unavailable, message: "A write transaction belongs to its realm's isolation: commit or cancel it there.")
extension Realm.AsyncTransaction: Sendable {}
