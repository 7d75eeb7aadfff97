import ActorRealm
import ExampleSupport
import FlyingFox
import FlyingSocks
import Foundation

/// The HTTP server, from the opening of the file to its closing.
struct TodoServer {
    let configuration: Realm.Configuration
    let endpoint: Endpoint
    let heartbeat: Duration

    /// Runs until the process is asked to end.
    func run() async throws {
        let signals = TerminationSignals()
        defer { signals.cancel() }
        let store = try await TodoStore(configuration: configuration)
        let audience = Audience(configuration: configuration, heartbeat: heartbeat)
        let server = HTTPServer(
            config: .init(address: try endpoint.address(), pool: PromptSocketPool(), logger: .disabled),
            handler: TodoHandler(store: store, audience: audience, hostNames: endpoint.hostNames)
        )
        try await withThrowingTaskGroup { group in
            group.addTask {
                do {
                    try await server.run()
                } catch {
                    if await audience.isClosed { return }
                    throw Failure(description: "\(endpoint.host):\(endpoint.port): \(error.localizedDescription)")
                }
            }
            group.addTask { [arrivals = signals.arrivals] in
                try await server.waitUntilListening()
                await Console.line("live: \(endpoint.url(of: server.listeningAddress))")
                for await _ in arrivals { break }
                // The events end first; then requests under way have a moment to be answered.
                await audience.close()
                await server.stop(timeout: 0.25)
            }
            while try await group.next() != nil {}
        }
        await store.close()
        Console.line("live: closed")
    }

    /// The server could not begin, or not go on.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
