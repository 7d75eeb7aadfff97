import FoundationEssentials

/// Lists objects and collections for people.
enum ObjectDescription {
    private static let maximumDepth = 5
    private static let maximumElements = 100

    static func describe(_ object: ObjectBase, depth: Int = 0) -> String {
        let info = object.modelClass
        if object.isInvalidated { return "[invalid object]" }
        if depth >= maximumDepth { return "<Maximum depth exceeded>" }
        var text = "\(info.name) {\n"
        for property in info.properties where !property.isComputed {
            let value = describe(value: property.value(in: object), depth: depth + 1)
            text += "\t\(property.name) = \(indented(value));\n"
        }
        return text + "}"
    }

    static func describe<Elements: RealmCollection>(collection: Elements, depth: Int = 0) -> String {
        if depth >= maximumDepth { return "<Maximum depth exceeded>" }
        let address = String(UInt(bitPattern: ObjectIdentifier(identity(of: collection)).hashValue), radix: 16)
        let elements = collection.prefix(maximumElements).enumerated()
            .map { index, element in
                let value = describe(value: Elements.Element._boxedElement(element), depth: depth + 1)
                return "\t[\(index)] \(indented(value))"
            }
        var text = "\(String(describing: type(of: collection))) <0x\(address)> (\n" + elements.joined(separator: ",\n")
        let count = collection.count
        if count > maximumElements { text += "\n\t... \(count - maximumElements) objects skipped." }
        return text + (elements.isEmpty ? ")" : "\n)")
    }

    /// The object that stands for a collection: the list itself, or what is behind results.
    private static func identity<Elements: RealmCollection>(of collection: Elements) -> AnyObject {
        if type(of: collection) is AnyObject.Type { return collection as AnyObject }
        return collection._backing ?? collection as AnyObject
    }

    private static func describe(value: Any?, depth: Int) -> String {
        guard let value = ValueReader.unwrap(value) else { return "(null)" }
        switch value {
        case let object as ObjectBase: return describe(object, depth: depth)
        case let data as Data:
            let shown = data.prefix(24).map { format(byte: $0) }.joined()
            return "<\(shown)\(data.count > 24 ? "…" : "") — \(data.count) total bytes>"
        case let collection as any RealmCollection: return describe(collection: collection, depth: depth)
        default: return "\(value)"
        }
    }

    private static func format(byte: UInt8) -> String {
        let text = String(byte, radix: 16)
        return text.count == 1 ? "0" + text : text
    }

    private static func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n\t")
    }
}
