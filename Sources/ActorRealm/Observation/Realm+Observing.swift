import RealmStorage

extension Realm {
    /// What a realm tells the blocks of ``observe(_:)``.
    @frozen
    public enum Notification: String, Sendable {
        /// The realm moved to a newer version, by its own commit or another's.
        ///
        /// It stands there when the block is called, outside every write transaction.
        case didChange = "RLMRealmDidChangeNotification"
        /// There is a newer version, and the realm follows only when asked because `autorefresh` is off, or cannot follow because
        /// it ``Realm/isOutdated``.
        case refreshRequired = "RLMRealmRefreshRequiredNotification"
    }

    /// What ``observe(_:)`` calls.
    public typealias NotificationBlock = (_ notification: Notification, _ realm: Realm) -> Void

    /// Calls a block in the realm's isolation after each commit of anyone that changes something.
    ///
    /// For a synchronous commit of this realm (`write`, `commitWrite()`) that is before the commit returns, and for a commit that
    /// ``refresh()`` moves the realm to before that returns; blocks are called in the order of their registration. All other
    /// commits are told in a later turn of the isolation. A block may write; it hears of its own write in a later turn.
    ///
    /// - Returns: a token that keeps the observer; its deallocation ends it.
    /// - Precondition: The realm is live and writable, not in a write transaction, and belongs to an actor, a queue or a
    ///   scheduler.
    ///   Look at ``isFrozen`` and ``isInWriteTransaction``.
    public func observe(
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping NotificationBlock
    ) -> NotificationToken {
        core.checkObservable(deliveringTo: core.isolation)
        if core.isClosed { return NotificationToken() }
        do {
            let pump = try ChangePump(
                RealmSubject(of: core),
                of: core,
                isolation: core.isolation,
                registeredAt: ReaderOrigin(fileID: file, line: line),
                heldBack: { block(.refreshRequired, $0.realm()) },
                block: { delivery in
                    switch delivery {
                    case .change(_, let core): block(.didChange, core.realm())
                    case .failure(Realm.Error.schemaOutdated, let core?): block(.refreshRequired, core.realm())
                    case .failure: break
                    }
                }
            )
            pump.start()
            return NotificationToken(pump)
        } catch {
            misuse("Observing could not begin: \(error)")
        }
    }
}
