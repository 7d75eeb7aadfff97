import ActorRealm
import ExampleSupport
import FlyingFox
import Foundation

/// Answers requests.
struct TodoHandler: HTTPHandler {
    let store: TodoStore
    let audience: Audience
    /// The names under which the server may be asked; nil for any.
    ///
    /// Without this, a page of another site whose name was made to lead here could read and write the list.
    let hostNames: Set<String>?

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        do {
            return try await respond(to: request)
        } catch let refusal as Refusal {
            return try .refusal(refusal)
        } catch let error as TodoStore.Unknown {
            return try .refusal(.notFound(error.description))
        } catch let error as TodoText.Unfit {
            return try .refusal(.badRequest(error.description))
        } catch {
            Console.error("live: \(request.method.rawValue) \(request.path): \(error)")
            let message = "That did not work: see the server's log."
            return try .refusal(Refusal(status: .internalServerError, message: message))
        }
    }

    private func respond(to request: HTTPRequest) async throws -> HTTPResponse {
        let body = try await RequestBody(of: request)
        try checkHost(of: request)
        let path = request.path.split(separator: "/").map(String.init)
        switch (request.method, path.first, path.count) {
        case (.GET, nil, 0): return .page(PackageResources.page_html, type: "text/html")
        case (.GET, "style.css", 1): return .page(PackageResources.style_css, type: "text/css")
        case (.GET, "script.js", 1): return .page(PackageResources.script_js, type: "text/javascript")
        case (.GET, "events", 1): return try await events()
        case (.GET, "status", 1): return try await .json(status())
        case (.GET, "tasks", 1): return try await .json(store.list())
        case (.POST, "tasks", 1): return try await add(body.fields(of: request))
        case (.PATCH, "tasks", 2): return try await edit(path[1], body.fields(of: request))
        case (.DELETE, "tasks", 2): return try await .json(store.remove(path[1]))
        case (_, nil, 0), (_, "style.css", 1), (_, "script.js", 1), (_, "events", 1), (_, "status", 1):
            throw notAllowed(request, "GET")
        case (_, "tasks", 1): throw notAllowed(request, "GET, POST")
        case (_, "tasks", 2): throw notAllowed(request, "PATCH, DELETE")
        default: throw Refusal.notFound("There is nothing at this address.")
        }
    }

    private func add(_ fields: RequestBody.Fields) async throws -> HTTPResponse {
        guard let text = fields.text else { throw Refusal.badRequest("\"text\" is missing.") }
        return try await .json(store.add(TodoText(text), isDone: fields.done ?? false), status: .created)
    }

    private func edit(_ id: String, _ fields: RequestBody.Fields) async throws -> HTTPResponse {
        guard fields.text != nil || fields.done != nil else {
            throw Refusal.badRequest("There is nothing to change: give \"text\", \"done\" or both.")
        }
        let text = try fields.text.map { text throws(TodoText.Unfit) in try TodoText(text) }
        return try await .json(store.edit(id, text: text, isDone: fields.done))
    }

    /// The list as it changes.
    ///
    /// A client that comes back begins with the whole list again, whatever its Last-Event-ID is.
    private func events() async throws -> HTTPResponse {
        guard let stream = try await audience.admit() else {
            throw Refusal(
                status: .serviceUnavailable,
                message: "More than \(Audience.limit) clients follow the list.",
                headers: [HTTPHeader("Retry-After"): "5"]
            )
        }
        return .events(stream)
    }

    private func status() async -> ServerStatus {
        let (newest, active) = await store.versions()
        return await ServerStatus(
            version: newest,
            observers: audience.count,
            viewers: Viewer.existing.load(ordering: .relaxed),
            admitted: audience.admitted,
            process: ProcessInfo.processInfo.processIdentifier,
            activeVersions: active.map(\.description)
        )
    }

    private func checkHost(of request: HTTPRequest) throws {
        guard let hostNames else { return }
        let name = request.headers[.host].flatMap { URLComponents(string: "http://\($0)")?.host }
        guard let name, hostNames.contains(name.lowercased()) else {
            throw Refusal(status: .misdirectedRequest, message: "This server does not go by that name.")
        }
    }

    private func notAllowed(_ request: HTTPRequest, _ methods: String) -> Refusal {
        Refusal(
            status: .methodNotAllowed,
            message: "\(request.method.rawValue) is not possible here. Possible: \(methods).",
            headers: [HTTPHeader("Allow"): methods]
        )
    }
}
