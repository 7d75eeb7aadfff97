public import Dispatch
import Foundation
import RealmStorage

extension ProjectionObservable {
    fileprivate func projectionSource(keyPaths: [String]?, origin: ReaderOrigin) -> ObservationSource<ObjectSubject> {
        // Its paths are known then, if the object has what is needed to find them.
        _ = try? ProjectionSchema.of(Self.self, readFrom: rootObject)
        return rootObject.observationSource(labels: ProjectionSchema.labels(keyPaths, in: Self.self), origin: origin)
    }

    /// The paths that an observer of a collection tells of.
    static func paths(_ names: [String]?) -> [String]? { ProjectionSchema.paths(names, in: self) }

    /// The names of the properties that key paths of the projection lead to.
    static func names(_ keyPaths: [PartialKeyPath<Self>]) -> [String] {
        keyPaths.flatMap { keyPath in
            let properties = ProjectionSchema.properties(of: keyPath, in: Self.self)
            if properties.isEmpty { misuse("The key path \(keyPath) is no `@Projected` property of \(Self.self).") }
            return properties.map(\.name)
        }
    }

    /// Calls a block after each commit that writes to what the projection shows, and when its object is deleted.
    ///
    /// - Parameters:
    ///   - keyPaths: The names of the projection's properties to tell of; nil or none for all of them.
    ///   - queue: A serial queue to be called on; nil for the isolation of the object's own realm.
    ///   - file: Where the observer comes from, for the diagnostics.
    ///   - line: The line there.
    ///   - block: Gets the changes.
    /// - Returns: A token that keeps the observer; its deallocation ends it.
    /// - Precondition: It is managed and live, its realm is not in a write transaction, and there are such properties:
    ///   look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen``, ``Realm/isInWriteTransaction`` and
    ///   ``Realm/schema``.
    public func observe(
        keyPaths: [String]? = nil,
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        let source = projectionSource(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line))
        return source.observe(from: rootObject.core, on: queue.map { .delivering(on: $0) }) { delivery in
            switch delivery {
            case .failure(let error, _): block(.error(error as NSError))
            case .change(let pending, let core): block(source.projectedChange(pending, in: core))
            }
        }
    }

    /// Calls a block after each commit that writes to the given properties, and when the object is deleted.
    ///
    /// - Precondition: It is managed and live, its realm is not in a write transaction, and there are such properties:
    ///   look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen``, ``Realm/isInWriteTransaction`` and
    ///   ``Realm/schema``.
    public func observe(
        keyPaths: [PartialKeyPath<Self>],
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: Self.names(keyPaths), on: queue, file: file, line: line, block)
    }

    /// Calls a block on an actor after each commit that writes to what the projection shows, and when its object is
    /// deleted.
    ///
    /// - Precondition: It is managed and live, its realm is not in a write transaction, and there are such properties:
    ///   look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen``, ``Realm/isInWriteTransaction`` and
    ///   ``Realm/schema``.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil,
        on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        guard !Task.isCancelled, !isInvalidated else { return NotificationToken() }
        let source = projectionSource(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line))
        return source.observe(from: rootObject.core, on: RealmIsolation(actor)) { [weak actor] delivery in
            guard let actor else { return }
            switch delivery {
            case .failure(let error, _): actor.receive(.error(error as NSError), with: block)
            case .change(let pending, let core): actor.receive(source.projectedChange(pending, in: core), with: block)
            }
        }
    }

    /// Calls a block on an actor after each commit that writes to the given properties, and when the object is deleted.
    ///
    /// - Precondition: It is managed and live, its realm is not in a write transaction, and there are such properties:
    ///   look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen``, ``Realm/isInWriteTransaction`` and
    ///   ``Realm/schema``.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Self>],
        on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(
            keyPaths: Self.names(keyPaths),
            on: actor,
            _isolation: _isolation,
            file: file,
            line: line,
            block
        )
    }

    /// The changes of what the projection shows.
    ///
    /// - Parameters:
    ///   - keyPaths: The names of the projection's properties to tell of; nil or none for all of them.
    ///   - file: Where the observer comes from, for the diagnostics.
    ///   - line: The line there.
    /// - Returns: A sequence that may be sent anywhere.
    /// - Precondition: It is managed and live, and there are such properties: look at ``ThreadConfined/realm``,
    ///   ``ThreadConfined/isFrozen`` and ``Realm/schema``.
    public func changes(
        keyPaths: [String]? = nil,
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> ProjectionChanges<Self> {
        ProjectionChanges(source: projectionSource(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line)))
    }

    /// The changes of the given properties.
    ///
    /// - Precondition: It is managed and live, and there are such properties: look at ``ThreadConfined/realm``,
    ///   ``ThreadConfined/isFrozen`` and ``Realm/schema``.
    public func changes(
        keyPaths: [PartialKeyPath<Self>],
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> ProjectionChanges<Self> {
        changes(keyPaths: Self.names(keyPaths), file: file, line: line)
    }
}

extension ObservationSource where Subject == ObjectSubject {
    /// The change that a delivery stands for, in the realm that it is delivered with.
    func projectedChange<Value: ProjectionObservable>(
        _ pending: ChangeCursor<ObjectSubject>.Pending,
        in core: RealmCore
    ) -> ObjectChange<Value> {
        guard case .changed(let names, let before, let since)? = pending.delta,
            let projection = Value._resolve(reference, in: core.realm())
        else { return .deleted }
        func resolved(at view: FixedView) -> Value.Root? {
            Value.Root._resolve(reference, in: RealmCore.frozen(at: view, coordinator, configuration).realm())
        }
        let known = before.flatMap(resolved)
        return .change(
            projection,
            ProjectionSchema.of(Value.self).filter { names.contains($0.name) }
                .map { property in
                    let name = property.name
                    if property.projected.isCollection {
                        return PropertyChange(name: name, oldValue: nil, newValue: nil)
                    }
                    let old = since.isEmpty ? known : since[name].map(resolved) ?? known
                    return PropertyChange(
                        name: name,
                        oldValue: old.flatMap { property.readableValue(of: $0) },
                        newValue: property.readableValue(of: projection.rootObject)
                    )
                }
        )
    }
}

extension RealmCollection where Element: ProjectionObservable {
    /// Calls a block with the projections as they are, and then after each commit that changes the collection or the given
    /// properties.
    ///
    /// - Precondition: It is managed and live, its realm is not in a write transaction, and there are such properties:
    ///   look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen``, ``Realm/isInWriteTransaction`` and
    ///   ``Realm/schema``.
    public func observe(
        keyPaths: [PartialKeyPath<Element>],
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: Element.names(keyPaths), on: queue, file: file, line: line, block)
    }

    /// Calls a block on an actor with the projections as they are, and then after each commit that changes the collection or
    /// the given properties.
    ///
    /// - Precondition: It is managed and live, its realm is not in a write transaction, and there are such properties:
    ///   look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen``, ``Realm/isInWriteTransaction`` and
    ///   ``Realm/schema``.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Element>],
        on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(
            keyPaths: Element.names(keyPaths),
            on: actor,
            _isolation: _isolation,
            file: file,
            line: line,
            block
        )
    }

    /// The changes of the collection, with the given properties of its projections.
    ///
    /// - Precondition: It is managed and live, and there are such properties: look at ``ThreadConfined/realm``,
    ///   ``ThreadConfined/isFrozen`` and ``Realm/schema``.
    public func changes(
        keyPaths: [PartialKeyPath<Element>],
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> CollectionChanges<Self> {
        changes(keyPaths: Element.names(keyPaths), file: file, line: line)
    }
}

/// The changes of one projection, as an asynchronous sequence; see ``ObjectChanges``.
public struct ProjectionChanges<Value: ProjectionObservable>: ChangeSequence {
    /// One change.
    public typealias Element = ObjectChange<Value>
    /// A failure is an element, the last one.
    public typealias Failure = Never

    let source: ObservationSource<ObjectSubject>

    /// Registers an observer: what is committed from now on is not missed.
    public func makeAsyncIterator() -> Iterator { Iterator(source) }

    /// Goes from change to change, and unregisters when it goes away.
    public struct Iterator: AsyncIteratorProtocol {
        private let iteration: ChangeIteration<ObjectSubject>
        private let source: ObservationSource<ObjectSubject>

        init(_ source: ObservationSource<ObjectSubject>) {
            self.source = source
            iteration = source.makeIteration()
        }

        /// Waits for the next change, on the given actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            switch await iteration.next(isolation: actor) {
            case .change(let pending, let core): return source.projectedChange(pending, in: core)
            case .failure(let error): return .error(error as NSError)
            case .end: return nil
            }
        }

        /// Waits for the next change, on the caller's actor.
        public nonisolated(nonsending) mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }
    }
}

@available(*, unavailable, message: "An iterator belongs to one task: send the sequence instead.")
extension ProjectionChanges.Iterator: Sendable {}
