import RealmStorage
import Synchronization

/// A device that has no space left for more than it has, or for some of its bytes.
package final class TightDevice: ForwardingDevice {
    package final class Control: Sendable {
        private let state = Mutex((isTight: false, refused: 0..<0))

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
    }

    package let base: any StorageDevice
    private let control: Control

    package init(_ base: any StorageDevice, _ control: Control) {
        self.base = base
        self.control = control
    }

    package func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
        let bytes = offset..<(offset + pieces.reduce(0) { $0 + $1.1 })
        let isBeyond = try bytes.upperBound > base.currentByteCount()
        if control.isTight && isBeyond || control.refused.overlaps(bytes) {
            throw StorageError(.full, "There is no space left", path: path)
        }
        try base.write(pieces, at: offset)
    }
}
