/// The changes of a whole realm, as an asynchronous sequence of keys per class.
///
/// It has no initial element. A loop that falls behind further than ``Realm/Configuration/maximumObserverLag`` gets an
/// element with `isReset`. Iterated on an actor that has a realm of the file, that realm stands at the version of the
/// change while the loop's body runs without suspending.
public struct RealmChanges: ChangeSequence {
    /// One change, made of one or more commits.
    public typealias Element = RealmChange
    /// Reading the record of changes fails only with the file; then the sequence ends, behind an element with `isOutdated` where
    /// the schema of the file is not the one of the program any more.
    public typealias Failure = Never

    let source: ObservationSource<RealmSubject>

    /// Registers an observer: what is committed from now on is not missed.
    public func makeAsyncIterator() -> Iterator {
        Iterator(iteration: source.makeIteration())
    }

    /// Goes from change to change, and unregisters when it goes away.
    public struct Iterator: AsyncIteratorProtocol {
        let iteration: ChangeIteration<RealmSubject>
        /// The version up to which was told.
        private var version: UInt64

        init(iteration: ChangeIteration<RealmSubject>) {
            self.iteration = iteration
            version = iteration.startVersion
        }

        /// Waits for the next change, on the given actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            switch await iteration.next(isolation: actor) {
            case .change(let pending, _):
                version = pending.target.version
                return pending.delta
            case .failure(Realm.Error.schemaOutdated):
                return RealmChange(version: version, classes: [:], isOutdated: true)
            case .failure, .end: return nil
            }
        }

        /// Waits for the next change, on the caller's actor.
        public nonisolated(nonsending) mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }
    }
}

@available(*, unavailable, message: "An iterator belongs to one task: send the sequence instead.")
extension RealmChanges.Iterator: Sendable {}

extension Realm {
    /// What is committed to the realm's file, by anyone, from the beginning of an iteration on.
    ///
    /// - Precondition: The realm is live and can be written: look at ``isFrozen`` and ``configuration``.
    public var changes: RealmChanges {
        core.checkObservable()
        return RealmChanges(
            source: ObservationSource(
                subject: RealmSubject(of: core),
                reference: _ConfinedReference(.unmanaged),
                coordinator: core.coordinator,
                configuration: core.configuration,
                origin: core.origin,
                isEnded: core.isClosed
            )
        )
    }
}
