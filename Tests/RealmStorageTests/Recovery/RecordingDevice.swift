import RealmStorage
import RealmTestSupport
import Synchronization

/// A device that really writes and remembers every operation, or fails one of them.
final class RecordingDevice: ForwardingDevice {
    enum Operation: Sendable {
        case write(offset: Int, bytes: [UInt8])
        case synchronize
        case setByteCount(Int)
        /// Put in by the test: what was acknowledged by now.
        case acknowledged(version: UInt64)
    }

    struct State {
        var operations: [Operation] = []
        var count = 0
        var failing: Int?
        var failsForever = false
        /// Whether what failed was the mark that follows a flush: its failure is no failure of a commit.
        var wasMark = false
        /// The failure, when it is not to be that which the call usually has.
        var code: StorageError.Code?
    }

    let base: any StorageDevice
    let log: Log

    /// What outlives the device: the test holds it.
    final class Log: Sendable {
        let state = Mutex(State())

        func append(_ operation: Operation) { state.withLock { $0.operations.append(operation) } }

        func fail(at index: Int?, forever: Bool = false, code: StorageError.Code? = nil) {
            state.withLock {
                $0.code = code
                $0.count = 0
                $0.failing = index
                $0.failsForever = forever
            }
        }
    }

    init(_ base: any StorageDevice, log: Log) {
        self.base = base
        self.log = log
    }

    func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
        try step(.full, isMark: offset < 4 * 4096 && pieces.reduce(0) { $0 + $1.1 } == 4096)
        var bytes: [UInt8] = []
        for (pointer, count) in pieces { bytes += UnsafeRawBufferPointer(start: pointer, count: count) }
        log.append(.write(offset: offset, bytes: bytes))
        try base.write(pieces, at: offset)
    }

    func synchronize() throws(StorageError) {
        try step(.io)
        log.append(.synchronize)
    }

    func setByteCount(_ byteCount: Int) throws(StorageError) {
        log.append(.setByteCount(byteCount))
        try base.setByteCount(byteCount)
    }

    private func step(_ code: StorageError.Code, isMark: Bool = false) throws(StorageError) {
        let fails = log.state.withLock { state in
            defer { state.count += 1 }
            guard let failing = state.failing else { return false }
            return state.failsForever ? state.count >= failing : state.count == failing
        }
        if fails { log.state.withLock { $0.wasMark = isMark } }
        let code = log.state.withLock { $0.code } ?? code
        if fails { throw StorageError(code, "Injected failure", errorNumber: code == .full ? 28 : 5) }
    }
}
