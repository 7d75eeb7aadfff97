import Foundation
import RealmStorage
import RealmTestSupport
import Synchronization

/// A device whose flushes wait while its gate is closed.
final class GatedDevice: ForwardingDevice {
    /// The gate.
    final class Control: Sendable {
        private let isOpen = Mutex(true)
        private let semaphore = DispatchSemaphore(value: 0)
        private let waiting = Mutex(0)

        /// Whether a flush waits at the gate.
        var isHolding: Bool { waiting.withLock { $0 > 0 } }

        func close() { isOpen.withLock { $0 = false } }

        func open() {
            isOpen.withLock { $0 = true }
            semaphore.signal()
        }

        fileprivate func pass() {
            waiting.withLock { $0 += 1 }
            while !isOpen.withLock({ $0 }) { semaphore.wait() }
            waiting.withLock { $0 -= 1 }
        }
    }

    let base: any StorageDevice
    let control: Control

    init(_ base: any StorageDevice, _ control: Control) {
        self.base = base
        self.control = control
    }

    func synchronize() throws(StorageError) {
        control.pass()
        try base.synchronize()
    }
}
