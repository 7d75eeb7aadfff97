import FlyingFox
import Foundation

extension HTTPResponse {
    private static let safety: HTTPHeaders = [
        HTTPHeader("X-Content-Type-Options"): "nosniff",
        HTTPHeader("Referrer-Policy"): "no-referrer",
        .cacheControl: "no-store",
    ]

    /// A page or a part of it.
    ///
    /// It loads nothing from elsewhere, and no text of a todo can become a script.
    static func page(_ bytes: [UInt8], type: String) -> HTTPResponse {
        var headers = safety
        headers[.contentType] = "\(type); charset=utf-8"
        headers[HTTPHeader("Content-Security-Policy")] =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        return HTTPResponse(statusCode: .ok, headers: headers, body: Data(bytes))
    }

    /// A value as JSON.
    static func json(_ value: some Encodable, status: HTTPStatusCode = .ok) throws -> HTTPResponse {
        var headers = safety
        headers[.contentType] = "application/json"
        return HTTPResponse(statusCode: status, headers: headers, body: try TodoRecord.json(value) + Data("\n".utf8))
    }

    /// Events without an end.
    static func events(_ stream: EventStream) -> HTTPResponse {
        var headers = safety
        headers[.contentType] = "text/event-stream"
        return HTTPResponse(statusCode: .ok, headers: headers, body: HTTPBodySequence(from: stream))
    }

    /// A refusal, with its reason as JSON.
    static func refusal(_ refusal: Refusal) throws -> HTTPResponse {
        let reason = try TodoRecord.json(["error": refusal.message]) + Data("\n".utf8)
        var headers = safety
        headers[.contentType] = "application/json"
        for header in refusal.headers.keys { headers.setValues(refusal.headers.values(for: header), for: header) }
        guard refusal.endsConnection else {
            return HTTPResponse(statusCode: refusal.status, headers: headers, body: reason)
        }
        headers[.connection] = "close"
        let body = HTTPBodySequence(from: FinalBody(reason), count: reason.count)
        return HTTPResponse(statusCode: refusal.status, headers: headers, body: body)
    }
}
