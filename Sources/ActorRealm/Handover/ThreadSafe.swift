import Logging
import RealmModel
import RealmStorage
import Synchronization

/// A variable that holds an object or a collection and may be read in any isolation.
///
/// Wherever it is read, it gives the value of the realm that is open there, or of one that is opened for the call; nil
/// when the object has been deleted. Unlike a ``ThreadSafeReference`` it may be read any number of times. Read through another
/// realm than before, it brings that one to the newest version: what was done to the value elsewhere is there.
///
/// ```swift
/// @ThreadSafe var person = realm.objects(Person.self).first
/// queue.async { [$person] in print($person.wrappedValue?.name ?? "deleted") }
/// ```
///
/// A `Sendable` class keeps one as a constant: `let person: ThreadSafe<Person>`.
@propertyWrapper
public final class ThreadSafe<T: ThreadConfined>: Sendable {
    private struct Target {
        let reference: _ConfinedReference
        let coordinator: RealmCoordinator
        let configuration: Realm.Configuration
        let version: UInt64
        /// Through which realm the value was set or read last: its core's number, since an actor may be where one was that is gone.
        var core: UInt64
    }

    private let target: Mutex<Target?>

    /// Wraps a value, in its isolation.
    ///
    /// - Precondition: The value is managed.
    ///   It has not been deleted: look at ``ThreadConfined/realm`` and ``ThreadConfined/isInvalidated``.
    public init(wrappedValue: T?) {
        target = Mutex(ThreadSafe.target(wrappedValue))
    }

    /// Shares what another wrapper refers to: this is how a `@ThreadSafe` parameter receives its argument.
    public convenience init(projectedValue: ThreadSafe<T>) {
        self.init(target: projectedValue.target.withLock { $0 })
    }

    private init(target: Target?) {
        self.target = Mutex(target)
    }

    /// The value in the isolation of the caller; nil when it does not exist any more.
    ///
    /// Where its realm cannot be opened it is nil, too, with an error in the log. ``ThreadSafeReference`` tells one from the other.
    ///
    /// - Precondition: A value that is set is managed.
    ///   Look at ``ThreadConfined/realm`` and ``ThreadConfined/isInvalidated``.
    public var wrappedValue: T? {
        get {
            guard let target = target.withLock({ $0 }) else { return nil }
            do {
                let core = try target.coordinator.coreForCurrentContext(configuration: target.configuration)
                try core.requireAccess()
                let isElsewhere = note(core.number)
                let newest = isElsewhere ? target.coordinator.file.newestVersionHere : 0
                // Beside an open block the value may come from a version that is newer than that.
                core.catchUp(with: max(newest, target.version))
                return T._resolve(target.reference, in: core.realm())
            } catch {
                let logger = target.configuration.logger ?? Logger.shared
                logger
                    .error(
                        "The realm of a `@ThreadSafe` value could not be opened, which reads as nil.",
                        metadata: ["realm.path": "\(target.coordinator.path)", "error": "\(error)"]
                    )
                return nil
            }
        }
        set {
            let new = ThreadSafe.target(newValue)
            let before = target.withLock { target in
                defer { target = new }
                return target
            }
            // What ends with it may use this variable: outside the lock.
            withExtendedLifetime(before) {}
        }
    }

    /// Notes through which realm the value is read; true when that was another one before.
    private func note(_ core: UInt64) -> Bool {
        target.withLock { target in
            guard let last = target?.core, last != core else { return false }
            target?.core = core
            return true
        }
    }

    /// The wrapper itself, to be captured by closures of other isolations.
    public var projectedValue: ThreadSafe<T> { self }

    private static func target(_ value: T?) -> Target? {
        guard let value else { return nil }
        guard let realm = value.realm else {
            misuse("Only managed objects may be wrapped as thread safe. Add the object to a Realm first.")
        }
        realm.core.checkAccess()
        if realm.isClosed { return nil }
        if value.isInvalidated { misuse("Cannot construct reference to invalidated object.") }
        return Target(
            reference: value._reference,
            coordinator: realm.core.coordinator,
            configuration: realm.core.configuration,
            version: realm.core.version,
            core: realm.core.number
        )
    }
}
