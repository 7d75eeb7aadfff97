import FlyingSocks
import Foundation

/// Where the server listens.
struct Endpoint: Sendable {
    let host: String
    let port: UInt16

    /// The address to listen on; a port of 0 lets the system choose.
    func address() throws -> any SocketAddress {
        do {
            if host.contains(":") { return try sockaddr_in6.inet6(ip6: host, port: port) }
            return try sockaddr_in.inet(ip4: host == "localhost" ? "127.0.0.1" : host, port: port)
        } catch {
            throw TodoServer.Failure(description: "\"\(host)\" is not an address: give one such as 127.0.0.1 or ::1.")
        }
    }

    /// The names by which clients may call the server; nil for any, when it listens on every address of the machine.
    var hostNames: Set<String>? {
        if host == "0.0.0.0" || host == "::" { return nil }
        return ["localhost", "127.0.0.1", "::1", "[::1]", host, "[\(host)]"]
    }

    /// The address for a browser.
    func url(of listening: Socket.Address?) -> String {
        switch listening {
        case .ip4(let host, let port): "http://\(host == "0.0.0.0" ? "127.0.0.1" : host):\(port)/"
        case .ip6(let host, let port): "http://[\(host == "::" ? "::1" : host)]:\(port)/"
        default: "http://\(host):\(port)/"
        }
    }
}
