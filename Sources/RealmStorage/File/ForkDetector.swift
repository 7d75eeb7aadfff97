import Glibc
import Synchronization

/// Notices that the process was forked: a child that inherits an open realm must not touch it, and opens files anew.
package enum ForkDetector {
    private static let count = Atomic<UInt64>(0)

    private static let isInstalled: Bool = {
        pthread_atfork(nil, nil, { ForkDetector.childDidStart() })
        return true
    }()

    /// Changes in every forked child.
    package static var generation: UInt64 {
        _ = isInstalled
        return count.load(ordering: .relaxed)
    }

    private static func childDidStart() {
        count.wrappingAdd(1, ordering: .relaxed)
    }
}

/// A value that every process has its own of: a forked child begins with a new one, whatever was locked in its parent.
package final class PerProcess<Value: Sendable>: Sendable {
    private final class Entry: Sendable {
        let generation: UInt64
        let value: Value

        init(_ generation: UInt64, _ value: Value) {
            self.generation = generation
            self.value = value
        }
    }

    private let make: @Sendable () -> Value
    /// The address of the entry, which is never let go of: a parent's may be in use.
    private let entry = Atomic<UInt>(0)

    package init(_ make: @escaping @Sendable () -> Value) {
        self.make = make
    }

    /// This process's value.
    package var value: Value {
        let generation = ForkDetector.generation
        while true {
            let address = entry.load(ordering: .acquiring)
            if let pointer = UnsafeRawPointer(bitPattern: address) {
                let known = Unmanaged<Entry>.fromOpaque(pointer).takeUnretainedValue()
                if known.generation == generation { return known.value }
            }
            let fresh = Unmanaged.passRetained(Entry(generation, make()))
            let desired = UInt(bitPattern: fresh.toOpaque())
            if entry.compareExchange(expected: address, desired: desired, ordering: .acquiringAndReleasing).exchanged {
                return fresh.takeUnretainedValue().value
            }
            fresh.release()
        }
    }
}
