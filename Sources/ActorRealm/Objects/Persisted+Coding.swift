extension Persisted: Decodable where Value: Decodable {
    /// Decodes the value of an unmanaged object's property.
    public init(from decoder: any Decoder) throws {
        // Through a container: a coder has a form of its own for dates and data.
        self.init(key: 0, value: try decoder.singleValueContainer().decode(Value.self))
    }
}

extension Persisted: Encodable where Value: Encodable {
    /// Encodes the value of a property, of a managed object too.
    ///
    /// A wrapper of a managed object knows that object when the class is `Encodable`.
    public func encode(to encoder: any Encoder) throws {
        guard Int32(bitPattern: key) > 0 else {
            guard let value = value ?? Value._generatedDefault() else {
                throw refusal(
                    "The property has no value, and \(Value.self) has none for the default of its stored type: assign one before.",
                    encoder
                )
            }
            return try encode(value, to: encoder)
        }
        guard let object = owner else {
            throw refusal(
                "Only unmanaged Realm objects can be encoded using automatic Codable synthesis, unless the class "
                    + "itself is Encodable. You must explicitly define `encode(to:)` on the model class to encode "
                    + "managed objects.",
                encoder
            )
        }
        try object.requireReadable(object.modelClass.properties[Int(key) - 1])
        try encode(Value._get(object, key), to: encoder)
    }

    private func refusal(_ message: String, _ encoder: any Encoder) -> EncodingError {
        .invalidValue(self, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: message))
    }

    private func encode(_ value: Value, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// A wrapper that decodes as nil when its key is missing.
public protocol _OptionalCodingWrapper: Decodable {
    /// The wrapper that holds nil.
    init(missing: Void)
}

extension Persisted: _OptionalCodingWrapper where Value: Decodable & ExpressibleByNilLiteral {
    /// The wrapper that holds nil.
    public init(missing: Void) { self.init(key: 0, value: .some(nil)) }
}

extension KeyedDecodingContainer {
    /// Decodes an optional property, which is nil when its key is missing.
    public func decode<Wrapper: _OptionalCodingWrapper>(_ type: Wrapper.Type, forKey key: Key) throws -> Wrapper {
        try decodeIfPresent(type, forKey: key) ?? Wrapper(missing: ())
    }
}
