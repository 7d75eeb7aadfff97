import Dispatch
import Foundation

/// The signals that ask a process to end: SIGINT and SIGTERM, which no longer end it at once.
struct TerminationSignals {
    /// An element for every signal that came.
    let arrivals: AsyncStream<Int32>

    private let sources: [any DispatchSourceSignal]

    init() {
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        arrivals = stream
        sources = [SIGINT, SIGTERM]
            .map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number)
                source.setEventHandler { continuation.yield(number) }
                source.resume()
                return source
            }
    }

    /// Stops listening.
    func cancel() {
        for source in sources { source.cancel() }
    }
}
