import Dispatch
import Foundation
import Synchronization

/// Work in pieces, which the calling thread and others that are free take one after the other.
///
/// The caller takes pieces until none is left, and then waits only for those that others have begun: where no processor is
/// free it does everything itself. All work of the process together is helped by no more threads than there are
/// other processors.
// Unchecked because `work` is called only for a piece that was taken, and `run` returns, and forgets it, only once none is
// left and none is under way.
final class SharedWork: @unchecked Sendable {
    private struct State {
        var taken = 0
        var underWay = 0
        var isCallerWaiting = false
    }

    /// The threads that can work at once.
    static let processorCount = ProcessInfo.processInfo.activeProcessorCount
    private static let helperCount = Atomic(0)

    private let pieceCount: Int
    private let state = Mutex(State())
    private let othersAreDone = DispatchSemaphore(value: 0)
    private var work: ((Int) -> Void)?

    private init(pieceCount: Int, _ work: @escaping (Int) -> Void) {
        self.pieceCount = pieceCount
        self.work = work
    }

    /// Calls a function once for each number below a count, from several threads at once, and returns when all calls have.
    ///
    /// - Parameters:
    ///   - pieceCount: The number of calls.
    ///   - helpers: The other threads that are wanted, beyond which none take part.
    ///   - isLimited: Whether fewer are taken when other work has them; false for tests.
    ///   - work: What is called with each number.
    static func run(pieceCount: Int, helpers: Int, isLimited: Bool = true, _ work: (Int) -> Void) {
        withoutActuallyEscaping(work) { work in
            let shared = SharedWork(pieceCount: pieceCount, work)
            for _ in 0..<min(helpers, pieceCount - 1) where !isLimited || reserveHelper() {
                DispatchQueue.global()
                    .async {
                        shared.takePieces()
                        if isLimited { helperCount.wrappingSubtract(1, ordering: .relaxed) }
                    }
            }
            shared.takePieces()
            shared.waitForOthers()
            shared.work = nil
        }
    }

    private static func reserveHelper() -> Bool {
        if helperCount.wrappingAdd(1, ordering: .relaxed).newValue < processorCount { return true }
        helperCount.wrappingSubtract(1, ordering: .relaxed)
        return false
    }

    private func takePieces() {
        while let piece = takePiece() {
            perform(piece)
            let isLast = state.withLock { state in
                state.underWay -= 1
                return state.isCallerWaiting && state.underWay == 0
            }
            if isLast { othersAreDone.signal() }
        }
    }

    private func takePiece() -> Int? {
        state.withLock { state in
            guard state.taken < pieceCount else { return nil }
            defer { state.taken += 1 }
            state.underWay += 1
            return state.taken
        }
    }

    /// Keeps nothing of the work when it returns.
    @inline(never)
    private func perform(_ piece: Int) { work?(piece) }

    /// Waits for those who still work, when all pieces are taken.
    private func waitForOthers() {
        let mustWait = state.withLock { state in
            state.isCallerWaiting = state.underWay > 0
            return state.isCallerWaiting
        }
        if mustWait { othersAreDone.wait() }
    }
}
