import Foundation
import RealmModel

/// Reads what a decoder gives as dynamically typed values, as the properties of a class would have them.
///
/// What has another form than its property comes as it is, so that ``InputCheck`` can name it.
final class InputReader {
    /// The number of values that could not be read.
    private var unreadableCount = 0

    /// Whether so much cannot be read that the rest is not looked at: to say where a value stands that it cannot read, a decoder of JSON
    /// goes over all that stands before.
    private var isGivenUp: Bool { unreadableCount >= InputCheck.listedCount }

    /// Whether the text is one in which ``JSONNumbers`` are spelled: of the others a decoder loses nothing.
    let isSpelled: Bool

    private init(_ decoder: any Decoder) { isSpelled = decoder.userInfo[JSONNames.areSpelled] != nil }

    /// What an object of a class is to be made of.
    static func value(for info: ModelClass, from decoder: any Decoder) -> Any {
        InputReader(decoder).value(for: info, from: decoder, depth: 0)
    }

    private func value(for info: ModelClass, from decoder: any Decoder, depth: Int) -> Any {
        // Deeper ones are refused, and need not be read for that.
        guard depth <= InputCheck.depthLimit, let container = try? decoder.container(keyedBy: Key.self) else {
            return plain(from: decoder, depth: 0) ?? Self.null
        }
        let keys = container.allKeys
        if let number = number(with: keys, in: container) { return plain(number) ?? Self.null }
        var values: [(name: String, value: Any?)] = []
        for key in keys {
            let name = JSONNames.name(key.stringValue, from: decoder)
            guard let property = info.property(inPath: name), !property.isComputed else {
                // The name is what is wrong.
                values.append((name, nil))
                continue
            }
            let decoder = try? container.superDecoder(forKey: key)
            values.append((name, decoder.map { value(of: property, from: $0, depth: depth) } ?? unreadable()))
        }
        return ValueReader.Entries(values)
    }

    /// What an object of a class is to be made of, in JSON.
    ///
    /// - Throws: What `failure` makes of the reason why it is no JSON.
    static func value(
        for info: ModelClass,
        json: Data,
        _ failure: (String) -> any Error
    ) throws -> Any {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.userInfo[Input.info] = info
        decoder.userInfo[JSONNames.areSpelled] = true
        do {
            let spelled = try JSONNames.spelled(json)
            return try decoder.decode(Input.self, from: spelled).value
        } catch let refusal as JSONText.Refusal {
            throw failure(refusal.isJSON ? refusal.reason : "The input is no JSON. \(refusal.reason)")
        } catch DecodingError.dataCorrupted(let context) {
            let cause = context.underlyingError.map { ": \($0)" } ?? ""
            throw failure("The input is no JSON. \(context.debugDescription)\(cause)")
        } catch {
            throw failure("The input is no JSON: \(error)")
        }
    }

    private struct Input: Decodable {
        static let info = CodingUserInfoKey(rawValue: "ActorRealm.class")!
        let value: Any

        init(from decoder: any Decoder) throws {
            guard let info = decoder.userInfo[Self.info] as? ModelClass else { throw CocoaError(.coderReadCorrupt) }
            value = InputReader.value(for: info, from: decoder)
        }
    }

    private func value(of property: ModelProperty, from decoder: any Decoder, depth: Int) -> Any? {
        switch property.shape.collection {
        case .none: return element(of: property, from: decoder, depth: depth)
        case .map:
            guard let container = try? decoder.container(keyedBy: Key.self) else { break }
            let keys = container.allKeys
            if let number = number(with: keys, in: container) { return plain(number) }
            var values: [(name: String, value: Any?)] = []
            for key in keys {
                let name = JSONNames.name(key.stringValue, from: decoder)
                let decoder = try? container.superDecoder(forKey: key)
                values.append((name, decoder.map { element(of: property, from: $0, depth: depth) } ?? unreadable()))
            }
            return ValueReader.Entries(values)
        case .list, .set:
            guard var container = try? decoder.unkeyedContainer() else { break }
            return elements(of: &container) { element(of: property, from: $0, depth: depth) }
        }
        return plain(from: decoder, depth: 0)
    }

    /// A value, or an element of a collection; nil for null.
    private func element(of property: ModelProperty, from decoder: any Decoder, depth: Int) -> Any? {
        if isGivenUp { return Unreadable(isSkipped: true) }
        if property.shape.kind == .object, let target = property.shape.target {
            if (try? decoder.singleValueContainer().decodeNil()) == true { return nil }
            return value(for: ModelClass.of(target), from: decoder, depth: depth + 1)
        }
        guard let container = try? decoder.singleValueContainer(), !container.decodeNil() else {
            return plain(from: decoder, depth: 0)
        }
        let value: Any? =
            switch property.shape.kind {
            case .int: whole(in: container)
            case .bool: try? container.decode(Bool.self)
            case .float: try? container.decode(Float.self)
            case .double: try? container.decode(Double.self)
            case .string: try? container.decode(String.self)
            case .data: try? container.decode(Data.self)
            case .date: try? container.decode(Date.self)
            case .uuid: try? container.decode(UUID.self)
            case .objectId: try? container.decode(ObjectId.self)
            case .decimal128: decimal(in: container)
            default: nil
            }
        return value ?? plain(from: decoder, depth: 0, for: property)
    }

    /// The text of a number that ``JSONNumbers`` has spelled; nil for any other object.
    private func number(with keys: [Key], in container: KeyedDecodingContainer<Key>) -> String? {
        guard isSpelled, keys.count == 1, keys[0].stringValue == JSONNumbers.name else { return nil }
        return try? container.decode(String.self, forKey: keys[0])
    }

    /// A value of any kind, as it comes; nil for null, and ``Unreadable`` for what the decoder gives in no form.
    ///
    /// A number that was spelled is the value of a property where that has such values.
    private func plain(from decoder: any Decoder, depth: Int, for property: ModelProperty? = nil) -> Any? {
        if isGivenUp { return Unreadable(isSkipped: true) }
        // One level more than may be stored, so that what nests too deep is seen to.
        guard depth <= MixedFormat.depthLimit + 1 else { return nil }
        if let container = try? decoder.container(keyedBy: Key.self) {
            let keys = container.allKeys
            if let number = number(with: keys, in: container) {
                if let property { return value(of: property, from: number) }
                return plain(number)
            }
            var values: [(name: String, value: Any?)] = []
            for key in keys {
                let name = JSONNames.name(key.stringValue, from: decoder)
                let decoder = try? container.superDecoder(forKey: key)
                values.append((name, decoder.map { plain(from: $0, depth: depth + 1) } ?? unreadable()))
            }
            return ValueReader.Entries(values)
        }
        if var container = try? decoder.unkeyedContainer() {
            return elements(of: &container) { plain(from: $0, depth: depth + 1) }
        }
        guard let container = try? decoder.singleValueContainer(), !container.decodeNil() else { return nil }
        if let value = try? container.decode(Bool.self) { return value }
        if let value = try? container.decode(Int.self), isExact(value, in: container) { return value }
        if let value = try? container.decode(Double.self) { return value }
        if let value = try? container.decode(String.self) { return value }
        // Decoders of property lists have these as well.
        if let value = try? container.decode(Date.self) { return value }
        if let value = try? container.decode(Data.self) { return value }
        return unreadable()
    }

    /// What stands in an array, up to what the decoder does not give.
    private func elements(of container: inout any UnkeyedDecodingContainer, _ element: (any Decoder) -> Any?) -> [Any] {
        var values: [Any] = []
        while !container.isAtEnd {
            guard let decoder = try? container.superDecoder() else {
                values.append(Unreadable())
                unreadableCount += 1
                break
            }
            values.append(element(decoder) ?? Self.null)
        }
        return values
    }

    /// Counts a value that cannot be read, and stands for it.
    func unreadable() -> Any? {
        unreadableCount += 1
        return Unreadable()
    }

    /// What is no value: a decoder looks at a number or a text when that is asked for, and not before.
    struct Unreadable {
        /// Whether it was not even looked at, behind many others.
        var isSkipped = false
    }

    /// Null, as an element of dynamically typed collections.
    private static var null: Any { Any?.none as Any }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
