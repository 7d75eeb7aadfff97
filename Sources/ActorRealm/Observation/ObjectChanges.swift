import Foundation
import RealmModel
import RealmStorage

/// The changes of one object, as an asynchronous sequence.
///
/// It has no initial element: the first one is the first change committed after the iteration began. Iterated on an
/// actor, the elements carry the object of that actor's own realm, elsewhere a frozen one. After `.deleted` it ends.
///
/// ```swift
/// for await change in todo.changes() {
///     guard case .change(let todo, let properties) = change else { break }
///     log(todo.name, properties.map(\.name))
/// }
/// ```
public struct ObjectChanges<Value: ObjectBase>: ChangeSequence {
    /// One change.
    public typealias Element = ObjectChange<Value>
    /// A failure is an element, the last one.
    public typealias Failure = Never

    let source: ObservationSource<ObjectSubject>

    /// Registers an observer: what is committed from now on is not missed.
    public func makeAsyncIterator() -> Iterator {
        Iterator(source)
    }

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
            case .change(let pending, let core): return source.change(pending, in: core)
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
extension ObjectChanges.Iterator: Sendable {}

extension ObservationSource where Subject == ObjectSubject {
    /// The change that a delivery stands for, in the realm that it is delivered with.
    func change<Value: ObjectBase>(
        _ pending: ChangeCursor<ObjectSubject>.Pending,
        in core: RealmCore
    ) -> ObjectChange<Value> {
        guard case .changed(let names, let before, let since)? = pending.delta,
            let object = Value._resolve(reference, in: core.realm())
        else { return .deleted }
        func resolved(at view: FixedView) -> Value? {
            Value._resolve(reference, in: RealmCore.frozen(at: view, coordinator, configuration).realm())
        }
        let known = before.flatMap(resolved)
        let schema = core.model.schema[subject.className]
        let info = object.modelClass
        // In the order of the class, which need not be that of the file; what is computed comes last.
        func place(_ property: ModelProperty?) -> Int {
            guard let property else { return .max }
            return property.isComputed ? info.properties.count + property.ordinal : property.ordinal
        }
        let written = names.map { (name: $0, declared: info.property(columnNamed: $0)) }
            .sorted { place($0.declared) < place($1.declared) }
        return .change(
            object,
            written.map { name, declared in
                let label = declared?.name ?? name
                guard let declared, let property = schema?[name], property.isStored, property.collection == .none
                else { return PropertyChange(name: label, oldValue: nil, newValue: nil) }
                let old = since.isEmpty ? known : since[name].map(resolved) ?? known
                // Another program may have written what this one has no value for.
                return PropertyChange(
                    name: label,
                    oldValue: old?.readableValue(of: declared),
                    newValue: object.readableValue(of: declared)
                )
            }
        )
    }
}

/// What objects of every model class can be asked for changes with: `Object` and `EmbeddedObject` adopt it.
public protocol ObservableModel {}

nonisolated extension ObjectBase: ObservableModel {}

extension ObservableModel where Self: ObjectBase {
    /// The changes of the object.
    ///
    /// - Parameters:
    ///   - keyPaths: The properties to tell of, dotted across links; nil or none for the object's own.
    ///   - file: Where the observer comes from, for the diagnostics.
    ///   - line: The line there.
    /// - Returns: a sequence that may be sent anywhere.
    /// - Precondition: The object is managed and live, and a key path names its properties.
    ///   Look at ``ThreadConfined/realm``, ``ThreadConfined/isFrozen`` and ``Realm/schema``.
    public func changes(
        keyPaths: [String]? = nil,
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> ObjectChanges<Self> {
        ObjectChanges(source: observationSource(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line)))
    }

    /// The changes of the object, in the given properties.
    ///
    /// - Precondition: It is managed and live, and there are such properties: look at ``ThreadConfined/realm``,
    ///   ``ThreadConfined/isFrozen`` and ``Realm/schema``.
    public func changes(
        keyPaths: [PartialKeyPath<Self>],
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> ObjectChanges<Self> {
        changes(keyPaths: keyPaths.map { PathRecorder.name(of: $0) }, file: file, line: line)
    }
}
