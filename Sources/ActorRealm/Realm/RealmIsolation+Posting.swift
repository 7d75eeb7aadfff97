import Synchronization

extension RealmIsolation {
    /// Runs the work in this isolation, later, in the order of the calls; where the isolation is gone, runs `loss` instead, on
    /// whatever thread finds that out.
    ///
    /// For work that carries something which somebody has to end: a turn, an open transaction.
    func post(_ work: @escaping @Sendable () -> Void, orElse loss: @escaping @Sendable () -> Void) {
        let errand = Errand(work, loss)
        post { errand.run() }
    }
}

/// Work on its way to an isolation: it is done there, or given up where the last reference to it is let go of.
private final class Errand: Sendable {
    private struct Content {
        let work: @Sendable () -> Void
        let loss: @Sendable () -> Void
    }

    private let content: Mutex<Content?>

    init(_ work: @escaping @Sendable () -> Void, _ loss: @escaping @Sendable () -> Void) {
        content = Mutex(Content(work: work, loss: loss))
    }

    deinit {
        content.withLock { $0 }?.loss()
    }

    func run() {
        let taken = content.withLock { content in
            defer { content = nil }
            return content
        }
        taken?.work()
    }
}
