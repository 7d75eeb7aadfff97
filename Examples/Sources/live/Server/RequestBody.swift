import FlyingFox
import Foundation

/// The body of a request, read and bounded.
struct RequestBody {
    static let byteLimit = 16_384
    /// So much of a body that is too long is read and thrown away, so that the client gets to read the answer.
    private static let patience = 1 << 20

    private let data: Data

    /// Reads the body, whatever the request is: what is left of it would be taken for the next request.
    init(of request: HTTPRequest) async throws {
        var data = Data()
        var count = 0
        do {
            for try await part in request.bodySequence {
                count += part.count
                if count <= RequestBody.byteLimit { data.append(part) }
                if count > RequestBody.patience { break }
            }
        } catch {
            throw Refusal(status: .badRequest, message: "The body could not be read: \(error)", endsConnection: true)
        }
        if count > RequestBody.byteLimit {
            throw Refusal(
                status: .payloadTooLarge,
                message: "The body is longer than \(RequestBody.byteLimit) bytes.",
                endsConnection: count > RequestBody.patience
            )
        }
        self.data = data
    }

    /// What a client may say of a todo.
    struct Fields: Decodable {
        var text: String?
        var done: Bool?
    }

    /// The body as JSON.
    func fields(of request: HTTPRequest) throws -> Fields {
        // Pages of other sites cannot send this type without asking first, and they are never allowed to.
        let type = request.headers[.contentType]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces)
        guard type?.lowercased() == "application/json" else {
            throw Refusal(status: .unsupportedMediaType, message: "The content type must be application/json.")
        }
        do {
            return try JSONDecoder().decode(Fields.self, from: data)
        } catch DecodingError.typeMismatch(_, let context) {
            switch context.codingPath.last?.stringValue {
            case "text": throw Refusal.badRequest("\"text\" must be a string.")
            case "done": throw Refusal.badRequest("\"done\" must be true or false.")
            default: throw Refusal.badRequest("The body must be a JSON object.")
            }
        } catch {
            throw Refusal.badRequest("The body is not valid JSON.")
        }
    }
}
