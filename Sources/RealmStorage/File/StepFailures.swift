import Synchronization

/// Has the n-th step of a file fail, for tests: whatever a caller may see fail is a step.
///
/// The calls of the device are steps, and so is what fails without a system call: the first read of a page, memory for a page, an
/// entry in the table of readers, a lock.
package final class StepFailures: Sendable {
    /// What may fail.
    package enum Step: Int, CaseIterable, Sendable {
        case length, write, flush, cut
        case pageRead, pageMemory, readerEntry, lock, mapping, lockFile
    }

    private struct State {
        var remaining: Int?
        var taken = 0
        var failed: Step?
    }

    private let state = Mutex(State())

    package init() {}

    /// Lets a number of steps pass and the next one fail; nil for none.
    package func arm(after count: Int?) {
        state.withLock { $0 = State(remaining: count) }
    }

    /// The steps since it was armed, and the one that failed.
    package var outcome: (taken: Int, failed: Step?) { state.withLock { ($0.taken, $0.failed) } }

    /// Takes a step.
    func step(_ step: Step, path: String, page: PageNumber? = nil) throws(StorageError) {
        let fails = state.withLock { state in
            state.taken += 1
            guard let remaining = state.remaining else { return false }
            state.remaining = remaining == 0 ? nil : remaining - 1
            if remaining == 0 { state.failed = step }
            return remaining == 0
        }
        if fails { throw StorageError(step.code, "The step '\(step)' was made to fail", path: path, page: page) }
    }
}

extension StepFailures.Step {
    fileprivate var code: StorageError.Code {
        switch self {
        case .length, .flush, .cut, .lock, .lockFile: .io
        case .write: .full
        case .pageRead: .corrupt
        case .pageMemory, .mapping: .addressSpaceExhausted
        case .readerEntry: .limit
        }
    }
}

/// A device whose calls are steps.
struct FailingStepDevice: StorageDevice {
    let base: any StorageDevice
    let failures: StepFailures

    var descriptor: Int32 { base.descriptor }
    var path: String { base.path }
    var isReadOnly: Bool { base.isReadOnly }
    var freeByteCount: Int? { base.freeByteCount }

    func currentByteCount() throws(StorageError) -> Int {
        try failures.step(.length, path: path)
        return try base.currentByteCount()
    }

    func write(_ pieces: [(UnsafeRawPointer, Int)], at offset: Int) throws(StorageError) {
        try failures.step(.write, path: path)
        try base.write(pieces, at: offset)
    }

    func synchronize() throws(StorageError) {
        try failures.step(.flush, path: path)
        try base.synchronize()
    }

    func setByteCount(_ byteCount: Int) throws(StorageError) {
        try failures.step(.cut, path: path)
        try base.setByteCount(byteCount)
    }
}

extension StorageFile {
    /// Has every page of the file count as one that was never read, so that reading it can fail again.
    package func doubtEveryPage() {
        let limit = Int(reservation.verified[0].load(ordering: .acquiring))
        for page in FileHeader.slotPageCount..<max(limit, FileHeader.slotPageCount) {
            reservation.verified[page].store(0, ordering: .relaxed)
        }
    }
}
