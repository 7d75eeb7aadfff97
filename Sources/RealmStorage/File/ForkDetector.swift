import Glibc
import Synchronization

/// Notices that the process was forked: a child that inherits an open realm must not touch it.
enum ForkDetector {
    private static let count = Atomic<UInt64>(0)

    private static let isInstalled: Bool = {
        pthread_atfork(nil, nil, { ForkDetector.childDidStart() })
        return true
    }()

    /// Changes in every forked child.
    static var generation: UInt64 {
        _ = isInstalled
        return count.load(ordering: .relaxed)
    }

    private static func childDidStart() {
        count.wrappingAdd(1, ordering: .relaxed)
    }
}
