import Foundation
import RealmModel
import RealmStorage
import Synchronization

/// Has files opened for actors: on one thread for each path, for which the other openings of that path wait without a thread.
///
/// Performs what ``OpeningLine`` decides. Continuations are resumed, and threads started, outside the lock.
final class OpeningScheduler: Sendable {
    typealias Line = OpeningLine<Need, Job>

    /// What an opening brings the file to, as far as another one may do that for it.
    struct Need: Equatable, Sendable {
        private let types: [ObjectIdentifier]?
        private let schemaVersion: UInt64
        private let isReadOnly: Bool

        init(_ configuration: Realm.Configuration) {
            types = configuration.objectTypes.map { $0.map { ObjectIdentifier($0) } }
            schemaVersion = configuration.schemaVersion
            isReadOnly = configuration.readOnly
        }
    }

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
        /// Another one has come so far that the file may be what is needed: it is looked for anew, while this is held.
        case lookAgain(RealmCoordinator?)
        /// Its task was cancelled while it waited.
        case cancelled
        /// While it waited its time passed: an opening beside the others with this deadline says who is in the way.
        case timedOut(ContinuousClock.Instant)
    }

    /// That of the process: a forked child has none of its parent's threads.
    static var shared: OpeningScheduler { processes.value }

    private static let processes = PerProcess { OpeningScheduler(prepare: { try Realm.prepare($0, for: $1) }) }

    private struct State {
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

    /// Opens the file of a configuration, or waits for another opening of its path.
    ///
    /// Suspends, and blocks no thread of the pool. A wait ends at once when the task is cancelled. The deadline, or else the time
    /// that the configuration gives to writers, counts while another opening makes the file fit, as while writers are waited for,
    /// and not while the file is opened.
    ///
    /// - Parameters:
    ///   - configuration: The file.
    ///   - path: Where it is.
    ///   - opener: Who opens it.
    ///   - isBeside: Whether it waits for no other opening.
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
        let timer = Mutex<Task<Void, Never>?>(nil)
        defer { timer.withLock { $0 }?.cancel() }
        return await withTaskCancellationHandler { [opener] in
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Outcome, Never>) in
                let job = Job(configuration: configuration, opener: opener, continuation: continuation)
                if isBeside { return self.begin(job) }
                let member = Line.Member(ticket: ticket, need: Need(configuration), waiter: job)
                guard let deadline = self.arrive(member, at: key) else { return }
                let expiry = self.expiry(of: ticket, at: key, deadline)
                timer.withLock { $0 = expiry }
            }
        } onCancel: {
            // Whoever arrives behind this sees it.
            cancellation.cancel()
            self.leave(ticket, at: key, with: .cancelled)
        }
    }

    /// How many openings of a path wait for another one; for tests.
    func waitingCount(at path: String) -> Int { state.withLock { $0.lines[TextKey(path)]?.waitingCount ?? 0 } }

    // MARK: Waiting

    /// - Returns: When the wait of the opening ends at the latest; nil where it does not wait, or for as long as it takes.
    private func arrive(_ member: Line.Member, at key: TextKey) -> ContinuousClock.Instant? {
        let (configuration, opener) = (member.waiter.configuration, member.waiter.opener)
        let arrival = state.withLock { state -> Line.Arrival? in
            // Whoever cancels says so before he looks for it in the line.
            if opener.cancellation?.isCancelled == true { return nil }
            return state.lines[key, default: Line()].arrive(member)
        }
        guard let arrival else {
            member.waiter.continuation.resume(returning: .cancelled)
            return nil
        }
        switch arrival {
        case .begins:
            begin(member, at: key)
            return nil
        case .waitsForFile: return nil
        case .waitsForFit: return opener.deadline ?? configuration.writeTimeout.map(WriteRequest.deadline(after:))
        }
    }

    private func expiry(
        of ticket: Line.Ticket,
        at key: TextKey,
        _ deadline: ContinuousClock.Instant
    ) -> Task<Void, Never> {
        Task.detached { [self] in
            do {
                try await Task.sleep(until: deadline, clock: .continuous)
            } catch {
                return
            }
            leave(ticket, at: key, with: .timedOut(deadline))
        }
    }

    /// Ends the wait of an opening; nothing when it waits no more.
    private func leave(_ ticket: Line.Ticket, at key: TextKey, with outcome: Outcome) {
        let job = state.withLock { $0.lines[key]?.leave(ticket) }
        job?.continuation.resume(returning: outcome)
    }

    // MARK: Opening

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
    private func begin(_ first: Line.Member, at key: TextKey) {
        var next: Line.Member? = first
        while let member = next {
            do {
                return try start { [self] in serve(member, at: key) }
            } catch {
                // Those that came meanwhile ask for a thread as well.
                next = end(member, at: key, with: .failure(Self.wrap(error, member.waiter)))
            }
        }
    }

    private func serve(_ first: Line.Member, at key: TextKey) {
        var next: Line.Member? = first
        while let member = next {
            var opener = member.waiter.opener
            opener.didFind = { [self] in found($0, by: member.ticket, at: key) }
            let result = Swift.Result { [opener] in try prepare(member.waiter.configuration, opener) }
            next = end(member, at: key, with: result)
        }
    }

    /// The file is open, and may be what others need.
    private func found(_ coordinator: RealmCoordinator, by ticket: Line.Ticket, at key: TextKey) {
        let jobs = state.withLock { $0.lines[key]?.found(ticket) ?? [] }
        for job in jobs { job.continuation.resume(returning: .lookAgain(coordinator)) }
    }

    /// - Returns: Who opens the file on the same thread.
    private func end(
        _ member: Line.Member,
        at key: TextKey,
        with result: Swift.Result<RealmCoordinator, any Error>
    ) -> Line.Member? {
        let coordinator = try? result.get()
        let ending = state.withLock { state -> Line.Ending in
            let ending = state.lines[key]?.end(member.ticket, succeeded: coordinator != nil)
            if state.lines[key]?.isEmpty == true { state.lines[key] = nil }
            return ending ?? Line.Ending()
        }
        for job in ending.lookingAgain { job.continuation.resume(returning: .lookAgain(coordinator)) }
        member.waiter.continuation.resume(returning: .ended(result))
        return ending.next
    }

    private static func wrap(_ error: any Error, _ job: Job) -> any Error {
        Realm.Error.wrap(error, path: job.configuration.fileURL?.path)
    }
}
