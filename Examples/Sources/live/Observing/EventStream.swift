import AsyncAlgorithms
import FlyingSocks

/// The endless body of a response: events, as soon as there are any.
///
/// The server lets go of a response when its connection is gone, or when it could not be written; with the last copy of
/// the stream the actor behind it ends.
struct EventStream: AsyncBufferedSequence {
    typealias Element = UInt8

    /// Ends a task when nobody holds it any more.
    final class Lease: Sendable {
        private let task: Task<Void, Never>

        init(_ task: Task<Void, Never>) {
            self.task = task
        }

        deinit {
            task.cancel()
        }
    }

    let events: AsyncChannel<[UInt8]>
    let lease: Lease

    func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator(), lease: lease)
    }

    /// Gives an event at a time, whole.
    struct Iterator: AsyncBufferedIteratorProtocol {
        var events: AsyncChannel<[UInt8]>.Iterator
        let lease: Lease
        private var rest: ArraySlice<UInt8> = []

        init(events: AsyncChannel<[UInt8]>.Iterator, lease: Lease) {
            self.events = events
            self.lease = lease
        }

        mutating func next() async throws -> UInt8? {
            if rest.isEmpty, let event = await events.next() { rest = event[...] }
            return rest.popFirst()
        }

        mutating func nextBuffer(suggested count: Int) async throws -> ArraySlice<UInt8>? {
            if rest.isEmpty { return await events.next()?[...] }
            defer { rest = [] }
            return rest
        }
    }
}
