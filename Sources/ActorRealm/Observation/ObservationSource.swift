import RealmModel
import RealmQuery
import RealmStorage

/// What a sequence of changes is made of: the file, what is observed in it, and how to find that in any isolation.
struct ObservationSource<Subject: ChangeSubject>: Sendable {
    let subject: Subject
    let reference: _ConfinedReference
    let coordinator: RealmCoordinator
    let configuration: Realm.Configuration
    /// Where the program asked for it.
    let origin: ReaderOrigin?
    /// Whether the realm had been closed already: there is nothing to observe.
    var isEnded = false

    func makeIteration() -> ChangeIteration<Subject> {
        ChangeIteration(
            subject,
            coordinator: coordinator,
            configuration: configuration,
            origin: origin,
            isEnded: isEnded
        )
    }

    /// What is observed, in the realm that a change is delivered with.
    ///
    /// That is what was `delivered` before in the same realm. When its owner is gone it is empty, as the change says, and can be read and
    /// copied as that, which the one delivered before cannot.
    func resolved<Confined: ThreadConfined>(
        _ pending: ChangeCursor<Subject>.Pending,
        in core: RealmCore,
        after delivered: Confined?
    ) -> Confined? {
        if let delivered, pending.last == nil, !core.isFrozen, !delivered.isInvalidated, delivered.realm?.core === core
        {
            return delivered
        }
        if let resolved = Confined._resolve(reference, in: core.realm()) { return resolved }
        guard let last = pending.last else { return delivered }
        if let empty = Confined._resolve(reference.outlivingOwner, in: core.realm()) { return empty }
        if let delivered { return delivered }
        // The class is gone, too.
        return Confined._resolve(reference, in: RealmCore.frozen(at: last, coordinator, configuration).realm())
    }
}

extension ThreadConfined {
    /// The value itself where keeping it holds no version.
    var keptWhileLive: Self? { isFrozen ? nil : self }
}

extension RealmCore {
    /// Throws where the realm does not declare one of some classes, which are named as in the file, or declares another class of that
    /// name than the configuration of what is observed.
    ///
    /// Realms of one file may have different classes: what is not found in this one need not be gone.
    func requireClasses(_ names: [String], of configuration: Realm.Configuration) throws {
        if names.isEmpty { return }
        let observed = try ModelSchema.cached(objectTypes: configuration.objectTypes)
        for name in names {
            guard let own = registry.schema[registry.programName(of: name)] else {
                throw error(.invalidInput, unknownClassMessage(name))
            }
            // What is observed may be of a class that its configuration does not name.
            guard let other = observed[registry.programName(of: name, in: observed)], other.type != own.type else {
                continue
            }
            throw error(
                .invalidInput,
                "Changes of \(String(reflecting: other.type)) were to be delivered with a realm that has another class of the name "
                    + "'\(name)': \(String(reflecting: own.type)). Observe them where the realm has the same class."
            )
        }
    }

    /// Traps where observing makes no sense, and outside the realm's isolation.
    func checkObservable() {
        checkAccess()
        if isFrozen {
            misuse(
                "Frozen Realms do not change and do not have change notifications: observe the live object or collection."
            )
        }
        if configuration.readOnly {
            misuse("Read-only Realms do not change and do not have change notifications.")
        }
    }

    /// Traps where a block cannot be registered either.
    func checkObservable(deliveringTo isolation: RealmIsolation) {
        checkObservable()
        if isInWriteTransaction {
            misuse(
                "Observing cannot begin inside a write transaction: call `observe` before it or after the commit."
            )
        }
        if !isolation.canPost {
            misuse(
                "Can only add notification blocks from within runloops, queues or actors, and nothing can be delivered to "
                    + "\(isolation). Pass a queue, as in `results.observe(on: queue) { _ in }`, or an actor, or open the realm "
                    + "on an actor."
            )
        }
    }
}

extension RealmCollection {
    /// The collection as something to observe.
    ///
    /// With `tracksAll` writes to other properties than those of the key paths are in what is computed, as `unasked`.
    func observationSource(
        keyPaths: [String]?,
        tracksAll: Bool = false,
        origin: ReaderOrigin?
    ) -> ObservationSource<CollectionSubject> {
        guard let backing = _backing else {
            misuse(
                "Change notifications are only supported on managed collections. Add the owner to a Realm first."
            )
        }
        backing.core.checkObservable()
        let observed = (Element.self as? any ProjectionObservable.Type).map { $0.paths(keyPaths) } ?? keyPaths
        let keyPaths = observed?.map { backing.columnName($0) }
        let subject = CollectionSubject(
            key: CollectionKey(
                backing.descriptor,
                keyPaths: tracksAll ? nil : keyPaths,
                asked: tracksAll ? keyPaths : nil
            )
        )
        do {
            try subject.validate(in: backing.core.model)
        } catch {
            misuse("\(error)")
        }
        return ObservationSource(
            subject: subject,
            reference: _reference,
            coordinator: backing.core.coordinator,
            configuration: backing.core.configuration,
            origin: origin,
            isEnded: backing.core.isClosed
        )
    }
}

extension ObjectBase {
    /// The object as something to observe.
    final func observationSource(
        keyPaths: [String]? = nil,
        labels: [ObjectSubject.Label]? = nil,
        origin: ReaderOrigin?
    ) -> ObservationSource<ObjectSubject> {
        guard let core, case .object(let className, let key) = _reference.content else {
            misuse(
                "Only objects which are managed by a Realm support change notifications. Add the object to a Realm first."
            )
        }
        core.checkObservable()
        let names = ColumnNames(core, from: modelClass)
        func inFile(_ paths: [String]) -> [String] { paths.map { names?.path($0, from: modelClass) ?? $0 } }
        let keyPaths = keyPaths.map(inFile)
        let labels = labels?.map { ObjectSubject.Label(name: $0.name, keyPaths: inFile($0.keyPaths)) }
        let subject = ObjectSubject(
            className: className,
            key: key,
            keyPaths: keyPaths,
            labels: labels,
            isDynamic: self is DynamicObject
        )
        do {
            try subject.validate(in: core.model)
        } catch {
            misuse("\(error)")
        }
        return ObservationSource(
            subject: subject,
            reference: _reference,
            coordinator: core.coordinator,
            configuration: core.configuration,
            origin: origin,
            isEnded: core.isClosed
        )
    }
}
