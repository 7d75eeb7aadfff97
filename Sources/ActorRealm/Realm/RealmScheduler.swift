/// Where a realm that belongs neither to an actor nor to a queue runs its work: an event loop of your own.
///
/// A realm opened with a scheduler may be used only where ``isOnThread`` is true; refreshes, notifications and the
/// blocks of asynchronous writes are handed to ``invoke(_:)``.
public protocol RealmScheduler: AnyObject, Sendable {
    /// Runs the work later in the scheduler's context, in the order of the calls.
    func invoke(_ work: @escaping @Sendable () -> Void)

    /// Whether the caller runs in the scheduler's context.
    var isOnThread: Bool { get }

    /// Whether the scheduler accepts work now.
    var canInvoke: Bool { get }

    /// Whether another scheduler stands for the same context, so that both share one realm.
    func isSame(as other: any RealmScheduler) -> Bool
}

extension RealmScheduler {
    /// A scheduler accepts work unless it says otherwise.
    public var canInvoke: Bool { true }

    /// A scheduler is the same as itself unless it says otherwise.
    public func isSame(as other: any RealmScheduler) -> Bool { self === other }
}
