import Glibc
import RealmStorage
import Synchronization

/// A device that has no space left for more than it has, or for some of its bytes.
package final class TightDevice: ForwardingDevice {
    package final class Control: Sendable {
        private struct State {
            var isTight = false
            var refused = 0..<0
            var refusedCount = 0
            var freeByteCount: Int?
        }

        private let state = Mutex(State())

        package init() {}

        /// Whether it gets no longer.
        package var isTight: Bool {
            get { state.withLock { $0.isTight } }
            set { state.withLock { $0.isTight = newValue } }
        }

        /// What cannot be written to.
        package var refused: Range<Int> {
            get { state.withLock { $0.refused } }
            set { state.withLock { $0.refused = newValue } }
        }

        /// How many writes failed.
        package var refusedCount: Int { state.withLock { $0.refusedCount } }

        /// What it says that it has left; nil where it does not say.
        package var freeByteCount: Int? {
            get { state.withLock { $0.freeByteCount } }
            set { state.withLock { $0.freeByteCount = newValue } }
        }

        fileprivate func refuses(_ bytes: Range<Int>, isBeyond: Bool) -> Bool {
            state.withLock { state in
                let refuses = state.isTight && isBeyond || state.refused.overlaps(bytes)
                if refuses { state.refusedCount += 1 }
                return refuses
            }
        }
    }

    package let base: any StorageDevice
    private let control: Control

    package init(_ base: any StorageDevice, _ control: Control) {
        self.base = base
        self.control = control
    }

    package var freeByteCount: Int? { control.freeByteCount }

    package func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
        let bytes = offset..<(offset + pieces.reduce(0) { $0 + $1.1 })
        let isBeyond = try bytes.upperBound > base.currentByteCount()
        if control.refuses(bytes, isBeyond: isBeyond) {
            throw StorageError(.full, "There is no space left", path: path, errorNumber: ENOSPC)
        }
        try base.write(pieces, at: offset)
    }
}
