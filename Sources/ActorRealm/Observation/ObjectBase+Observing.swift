public import Dispatch
import Foundation
import RealmStorage

extension ObservableModel where Self: ObjectBase {
    /// Calls a block after each commit that writes to the object, and when it is deleted.
    ///
    /// The block is called in the realm's isolation, or on the queue, with the object of that isolation's realm.
    ///
    /// - Parameters:
    ///   - keyPaths: The properties to tell of, dotted across links; nil or none for the object's own.
    ///   - queue: A serial queue to be called on; nil for the isolation of the object's own realm.
    ///   - file: Where the observer comes from, for the diagnostics.
    ///   - line: The line there.
    ///   - block: Gets the changes.
    /// - Returns: a token that keeps the observer; its deallocation ends it.
    /// - Precondition: The object is managed and live, its realm is not in a write transaction nor read-only, and the
    ///   caller runs in its isolation.
    ///   Look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe(
        keyPaths: [String]? = nil,
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observeAs(Self.self, keyPaths: keyPaths, on: queue, ReaderOrigin(fileID: file, line: line), block)
    }

    /// Calls a block after each commit that writes to the given properties of the object, and when it is deleted.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe(
        keyPaths: [PartialKeyPath<Self>],
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { PathRecorder.name(of: $0) }, on: queue, file: file, line: line, block)
    }

    /// Calls a block on an actor after each commit that writes to the object, and when it is deleted.
    ///
    /// What is committed after the call returned is told. The block gets the actor, to be used synchronously, and the
    /// object of the actor's own realm. A task that was cancelled gets an inert token.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil,
        on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        observeAs(Self.self, keyPaths: keyPaths, on: actor, ReaderOrigin(fileID: file, line: line), block)
    }

    /// Calls a block on an actor after each commit that writes to the given properties of the object, and when it is
    /// deleted.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Self>],
        on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(
            keyPaths: keyPaths.map { PathRecorder.name(of: $0) },
            on: actor,
            _isolation: _isolation,
            file: file,
            line: line,
            block
        )
    }
}

/// Variables of the type `Object` itself: the block names the class.
///
/// With a variable of a class of its own a block that names another one on an actor is an error of the compiler's.
extension ObservableModel where Self == Object {
    /// Calls a block on an actor that names another type for the object than the caller's variable has.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe<A: Actor, T: ObjectBase>(
        keyPaths: [String]? = nil,
        on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @Sendable @escaping (isolated A, ObjectChange<T>) -> Void
    ) async -> NotificationToken {
        self.observeAs(T.self, keyPaths: keyPaths, on: actor, ReaderOrigin(fileID: file, line: line), block)
    }

    /// Calls a block on an actor that names another type for the object than the caller's variable has, and its
    /// properties.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    public func observe<A: Actor, T: ObjectBase>(
        keyPaths: [PartialKeyPath<T>],
        on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @Sendable @escaping (isolated A, ObjectChange<T>) -> Void
    ) async -> NotificationToken {
        let names = keyPaths.map { PathRecorder.name(of: $0) }
        return self.observeAs(T.self, keyPaths: names, on: actor, ReaderOrigin(fileID: file, line: line), block)
    }
}

extension ObjectBase {
    /// Calls a block that names another type for the object than the caller's variable has.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    @_disfavoredOverload
    public final func observe<T: ObjectBase>(
        keyPaths: [String]? = nil,
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (ObjectChange<T>) -> Void
    ) -> NotificationToken {
        observeAs(T.self, keyPaths: keyPaths, on: queue, ReaderOrigin(fileID: file, line: line), block)
    }

    /// Calls a block that names another type for the object than the caller's variable has, and its properties.
    ///
    /// - Precondition: It is managed and live, and its realm is not in a write transaction: look at
    ///   ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/isInWriteTransaction``.
    @_disfavoredOverload
    public final func observe<T: ObjectBase>(
        keyPaths: [PartialKeyPath<T>],
        on queue: DispatchQueue? = nil,
        file: StaticString = #fileID,
        line: UInt = #line,
        _ block: @escaping (ObjectChange<T>) -> Void
    ) -> NotificationToken {
        let names = keyPaths.map { PathRecorder.name(of: $0) }
        return observeAs(T.self, keyPaths: names, on: queue, ReaderOrigin(fileID: file, line: line), block)
    }

    final func observeAs<A: Actor, T: ObjectBase>(
        _ type: T.Type,
        keyPaths: [String]?,
        on actor: A,
        _ origin: ReaderOrigin,
        _ block: @Sendable @escaping (isolated A, ObjectChange<T>) -> Void
    ) -> NotificationToken {
        guard !Task.isCancelled, !isInvalidated else { return NotificationToken() }
        let source = observationSource(keyPaths: keyPaths, origin: origin)
        return source.observe(from: core, on: RealmIsolation(actor)) { [weak actor] delivery in
            guard let actor else { return }
            switch delivery {
            case .failure(let error, _): actor.receive(.error(error as NSError), with: block)
            case .change(let pending, let core): actor.receive(source.change(pending, in: core), with: block)
            }
        }
    }

    final func observeAs<T: ObjectBase>(
        _ type: T.Type,
        keyPaths: [String]?,
        on queue: DispatchQueue?,
        _ origin: ReaderOrigin,
        _ block: @escaping (ObjectChange<T>) -> Void
    ) -> NotificationToken {
        let source = observationSource(keyPaths: keyPaths, origin: origin)
        return source.observe(from: core, on: queue.map { .delivering(on: $0) }) { delivery in
            switch delivery {
            case .failure(let error, _): block(.error(error as NSError))
            case .change(let pending, let core): block(source.change(pending, in: core))
            }
        }
    }
}
