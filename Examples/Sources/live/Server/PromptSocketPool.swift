import FlyingFox
import FlyingSocks
import Foundation

/// The server's way to wait for sockets, and the one place where it shows them: here they learn to send at once what is
/// written.
///
/// By default a system holds small pieces back until the piece before was acknowledged, which clients put off for
/// 40 ms: an answer is a head and a body, and events are small pieces. The listening socket waits first, and hands it
/// down.
struct PromptSocketPool: AsyncSocketPool {
    private let base: any AsyncSocketPool = HTTPServer.defaultPool()

    func prepare() async throws { try await base.prepare() }

    func run() async throws { try await base.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        try? socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        try await base.suspendSocket(socket, untilReadyFor: events)
    }
}
