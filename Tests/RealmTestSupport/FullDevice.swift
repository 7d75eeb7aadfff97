import Glibc
import RealmStorage
import Synchronization

/// A device that has no space left while a switch is on: what is written then is lost, and writing goes on.
///
/// It may also fail for another reason.
package final class FullDevice: ForwardingDevice {
    /// Says whether devices are full, and counts what they refused.
    package final class Switch: Sendable {
        private let state = Mutex((isOn: false, refused: 0))
        private let failure: Mutex<StorageError.Code>

        /// One that is off.
        ///
        /// - Parameter code: How writes fail.
        package init(_ code: StorageError.Code = .full) { failure = Mutex(code) }

        /// How writes fail.
        package var code: StorageError.Code {
            get { failure.withLock { $0 } }
            set { failure.withLock { $0 = newValue } }
        }

        package var isOn: Bool {
            get { state.withLock { $0.isOn } }
            set { state.withLock { $0.isOn = newValue } }
        }

        /// How many writes failed.
        package var refused: Int { state.withLock { $0.refused } }

        fileprivate func refuses() -> Bool {
            state.withLock { state in
                if state.isOn { state.refused += 1 }
                return state.isOn
            }
        }
    }

    package let base: any StorageDevice
    private let isFull: Switch

    package init(_ base: any StorageDevice, _ isFull: Switch) {
        self.base = base
        self.isFull = isFull
    }

    package func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
        if isFull.refuses() {
            let code = isFull.code
            let (message, number) = code == .full ? ("There is no space left", ENOSPC) : ("It cannot be written", EIO)
            throw StorageError(code, message, path: path, errorNumber: number)
        }
        try base.write(pieces, at: offset)
    }
}
