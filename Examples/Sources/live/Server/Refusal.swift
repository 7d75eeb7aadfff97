import FlyingFox

/// An answer to a request that cannot be fulfilled: a status, and a sentence that says why.
struct Refusal: Error {
    var status: HTTPStatusCode
    var message: String
    var headers: HTTPHeaders = [:]
    /// Whether the connection cannot be used on, because what follows the request on it was not read.
    var endsConnection = false

    static func badRequest(_ message: String) -> Refusal {
        Refusal(status: .badRequest, message: message)
    }

    static func notFound(_ message: String) -> Refusal {
        Refusal(status: .notFound, message: message)
    }
}
