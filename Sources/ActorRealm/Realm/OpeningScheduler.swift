import Foundation
import RealmModel
import RealmStorage
import Synchronization

/// Opens files for actors on threads, and has no thread for an opening that only waits until another one has opened the file.
///
/// Performs what ``OpeningLine`` decides. Continuations are resumed, and threads started, outside the lock.
final class OpeningScheduler: Sendable {
    typealias Line = OpeningLine<Job>

    /// An opening, and who waits for it.
    struct Job: Sendable {
        let configuration: Realm.Configuration
        let opener: Opener
        let continuation: UnsafeContinuation<Outcome, Never>
    }

    /// What comes of an opening.
    enum Outcome: Sendable {
        /// It has ended.
        case ended(Swift.Result<RealmCoordinator, any Error>)
        /// Another one has opened the file, which is held meanwhile and may be what is needed.
        case look(RealmCoordinator?)
        /// Its task was cancelled while it waited.
        case cancelled
    }

    /// That of the process: a forked child has none of its parent's threads.
    static var shared: OpeningScheduler { processes.value }

    private static let processes = PerProcess { OpeningScheduler(prepare: { try Realm.prepare($0, for: $1) }) }

    fileprivate struct State {
        var lines: [TextKey: Line] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())
    private let prepare: @Sendable (Realm.Configuration, Opener) throws -> RealmCoordinator
    private let start: @Sendable (@escaping @Sendable () -> Void) throws -> Void

    /// Openings by `prepare` on threads that `start` starts, or throws where the system has none.
    init(
        prepare: @escaping @Sendable (Realm.Configuration, Opener) throws -> RealmCoordinator,
        start: @escaping @Sendable (@escaping @Sendable () -> Void) throws -> Void = {
            try DedicatedThread.detach(name: "realm-open", $0)
        }
    ) {
        self.prepare = prepare
        self.start = start
    }

    /// Opens the file of a configuration on a thread, or waits until another opening of its path has opened it.
    ///
    /// Suspends, and blocks no thread of the pool. A wait ends at once when the task is cancelled.
    ///
    /// - Parameters:
    ///   - configuration: The file.
    ///   - path: Where it is.
    ///   - opener: Who opens it.
    ///   - isBeside: Whether it waits for no other opening, and none waits for it.
    ///   - isolation: That of the caller.
    /// - Returns: What came of it.
    func open(
        _ configuration: Realm.Configuration,
        at path: String,
        for opener: Opener,
        beside isBeside: Bool = false,
        isolation: isolated (any Actor)? = #isolation
    ) async -> Outcome {
        let key = TextKey(path)
        let number = state.withLock { state -> UInt64 in
            state.lastNumber += 1
            return state.lastNumber
        }
        let ticket = Line.Ticket(number: number)
        let cancellation = OpeningCancellation()
        var opener = opener
        opener.cancellation = cancellation
        return await withTaskCancellationHandler { [opener] in
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Outcome, Never>) in
                let job = Job(configuration: configuration, opener: opener, continuation: continuation)
                if isBeside { begin(job) } else { arrive(job, ticket, at: key) }
            }
        } onCancel: {
            // Whoever arrives behind this sees it.
            cancellation.cancel()
            let job = self.state.withLock { $0.lines[key]?.leave(ticket) }
            job?.continuation.resume(returning: .cancelled)
        }
    }

    /// How many openings of a path wait for another one; for tests.
    func waitingCount(at path: String) -> Int { state.withLock { $0.lines[TextKey(path)]?.waitingCount ?? 0 } }

    private func arrive(_ job: Job, _ ticket: Line.Ticket, at key: TextKey) {
        let begins = state.withLock { state -> Bool? in
            // Whoever cancels says so before he looks for it in the line.
            if job.opener.cancellation?.isCancelled == true { return nil }
            return state.lines[key, default: Line()].arrive(ticket, job)
        }
        switch begins {
        case nil: job.continuation.resume(returning: .cancelled)
        case true?: begin(job, ticket, at: key)
        case false?: break
        }
    }

    /// Opens the file on a thread, beside the others.
    private func begin(_ job: Job) {
        do {
            try start { [prepare] in
                let result = Swift.Result { try prepare(job.configuration, job.opener) }
                job.continuation.resume(returning: .ended(result))
            }
        } catch {
            job.continuation.resume(returning: .ended(.failure(Self.wrap(error, job))))
        }
    }

    /// Opens the file on a thread, for an opening and for those that follow it there.
    private func begin(_ job: Job, _ ticket: Line.Ticket, at key: TextKey) {
        var next: (ticket: Line.Ticket, waiter: Job)? = (ticket, job)
        while let (ticket, job) = next {
            do {
                return try start { [self] in serve(job, ticket, at: key) }
            } catch {
                // Those that came meanwhile ask for a thread as well.
                next = end(job, ticket, at: key, with: .failure(Self.wrap(error, job)))
            }
        }
    }

    private func serve(_ job: Job, _ ticket: Line.Ticket, at key: TextKey) {
        var next: (ticket: Line.Ticket, waiter: Job)? = (ticket, job)
        while let (ticket, job) = next {
            var opener = job.opener
            opener.didFind = { [self] in found($0, by: ticket, at: key) }
            let result = Swift.Result { [opener] in try prepare(job.configuration, opener) }
            next = end(job, ticket, at: key, with: result)
        }
    }

    /// The file is open, and may be what others need.
    private func found(_ coordinator: RealmCoordinator, by ticket: Line.Ticket, at key: TextKey) {
        let jobs = state.withLock { state -> [Job] in
            let jobs = state.lines[key]?.found(ticket) ?? []
            state.forget(key)
            return jobs
        }
        for job in jobs { job.continuation.resume(returning: .look(coordinator)) }
    }

    /// - Returns: Who opens the file on the same thread.
    private func end(
        _ job: Job,
        _ ticket: Line.Ticket,
        at key: TextKey,
        with result: Swift.Result<RealmCoordinator, any Error>
    ) -> (ticket: Line.Ticket, waiter: Job)? {
        let coordinator = try? result.get()
        let ending = state.withLock { state -> Line.Ending in
            let ending = state.lines[key]?.end(ticket, succeeded: coordinator != nil) ?? Line.Ending()
            state.forget(key)
            return ending
        }
        for job in ending.looking { job.continuation.resume(returning: .look(coordinator)) }
        job.continuation.resume(returning: .ended(result))
        return ending.next
    }

    private static func wrap(_ error: any Error, _ job: Job) -> any Error {
        Realm.Error.wrap(error, path: job.configuration.fileURL?.path)
    }
}

extension OpeningScheduler.State {
    /// Forgets the line of a path when nobody is in it.
    fileprivate mutating func forget(_ key: TextKey) {
        if lines[key]?.isEmpty == true { lines[key] = nil }
    }
}
