import Foundation

/// What is done with a decoder while it decodes.
final class DecoderUse: @unchecked Sendable {
    static let key = CodingUserInfoKey(rawValue: "use")!
    let body: (any Decoder) throws -> Void
    init(_ body: @escaping (any Decoder) throws -> Void) { self.body = body }

    /// What is decoded where a decoder is to be used.
    struct Place: Decodable {
        init(from decoder: any Decoder) throws {
            try (decoder.userInfo[DecoderUse.key] as? DecoderUse)?.body(decoder)
        }
    }
}
