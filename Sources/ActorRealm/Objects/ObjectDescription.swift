import FoundationEssentials
import RealmModel

/// Lists objects and collections for people.
///
/// Who describes an object may be about to tell of an error: what cannot be read is said in its place, and ends nothing.
enum ObjectDescription {
    private static let maximumDepth = 5
    private static let maximumElements = 100

    static func describe(_ object: ObjectBase, depth: Int = 0) -> String {
        readable {
            try requireAccess(object.core)
        } describe: {
            if object.isInvalidated { return "[invalid object]" }
            if depth >= maximumDepth { return "<Maximum depth exceeded>" }
            return describe(existing: object, depth: depth)
        }
    }

    private static func describe(existing object: ObjectBase, depth: Int) -> String {
        let info = object.modelClass
        var text = "\(info.name) {\n"
        for property in info.properties where !property.isComputed {
            let value = readable {
                try object.requireReadable(property)
            } describe: {
                describe(value: property.value(in: object), depth: depth + 1)
            }
            text += "\t\(property.name) = \(indented(value));\n"
        }
        return text + "}"
    }

    static func describe<Elements: RealmCollection>(collection: Elements, depth: Int = 0) -> String {
        if depth >= maximumDepth { return "<Maximum depth exceeded>" }
        return readable {
            try requireAccess(collection.realm?.core)
            guard !collection.isInvalidated, let backing = try collection.readableBacking() else { return }
            try backing.requireReadable([], first: maximumElements) {
                Elements.Element._isReadableElement($0, in: backing)
            }
        } describe: {
            collection.isInvalidated ? "[invalid collection]" : describe(readable: collection, depth: depth)
        }
    }

    private static func describe<Elements: RealmCollection>(readable collection: Elements, depth: Int) -> String {
        let elements = collection.prefix(maximumElements).enumerated()
            .map { index, element in
                let value = describe(value: Elements.Element._boxedElement(element), depth: depth + 1)
                return "\t[\(index)] \(indented(value))"
            }
        let element = name(of: Elements.Element.self, in: collection._backing)
        return "\(kind(of: collection))<\(element)> <\(address(of: identity(of: collection)))> (\n"
            + listing(elements, of: collection.count) + "\n)"
    }

    static func describe<Entries: RealmKeyedCollection>(map: Entries, depth: Int = 0) -> String {
        if depth >= maximumDepth { return "<Maximum depth exceeded>" }
        return readable {
            try requireAccess(map.realm?.core)
            if !map.isInvalidated { try (map as? any BackedMap)?.requireReadable() }
        } describe: {
            map.isInvalidated ? "[invalid collection]" : describe(readable: map, depth: depth)
        }
    }

    private static func describe<Entries: RealmKeyedCollection>(readable map: Entries, depth: Int) -> String {
        let entries = map.keys.prefix(maximumElements)
            .map { key in
                let value = describe(value: map[key].flatMap { Entries.Value._boxedElement($0) }, depth: depth + 1)
                return "[\(Entries.Key._name(key))]: \(indented(value))"
            }
        let value = name(of: Entries.Value.self, in: (map as? any BackedMap)?.backing)
        return "\(kind(of: map))<string, \(value)> <\(address(of: map as AnyObject))> (\n"
            + listing(entries, of: map.count) + "\n)"
    }

    /// Throws where not even `isInvalidated` may be asked: in another isolation.
    private static func requireAccess(_ core: RealmCore?) throws {
        // Of a realm that has ended it is true wherever it is asked.
        if let core, !core.isInvalidated { try core.requireAccess() }
    }

    /// What is described, or the error that reading it meets.
    private static func readable(_ check: () throws -> Void, describe: () -> String) -> String {
        do {
            try check()
            return describe()
        } catch {
            return "[unreadable: \(error)]"
        }
    }

    /// The address of an object, as text.
    static func address(of object: AnyObject) -> String {
        "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), radix: 16)
    }

    /// The first lines of a collection, and how many are left out.
    private static func listing(_ lines: [String], of count: Int) -> String {
        let left = count - lines.count
        return lines.joined(separator: ",\n") + (left > 0 ? "\n\t... \(left) objects skipped." : "")
    }

    /// The name of a collection's type without what it holds.
    private static func kind(of collection: Any) -> Substring {
        String(describing: type(of: collection)).prefix { $0 != "<" }
    }

    /// What a collection holds: a class, or a type by the name that the schema has for it.
    private static func name<Element: RealmCollectionValue>(
        of element: Element.Type,
        in backing: _CollectionBacking?
    ) -> String {
        if element is any ProjectionObservable.Type { return "\(element)" }
        if let elements = backing?.elements { return elements.info.name }
        let shape = Element._elementShape
        return shape.target?.className() ?? (PropertyType(rawValue: Int(shape.kind.rawValue)) ?? .any).description
    }

    /// The object that stands for a collection: the list itself, or what is behind results.
    private static func identity<Elements: RealmCollection>(of collection: Elements) -> AnyObject {
        if type(of: collection) is AnyObject.Type { return collection as AnyObject }
        return collection._backing ?? collection as AnyObject
    }

    /// A value as Swift shows it, except for dates that no calendar has.
    static func text(_ value: Any) -> String {
        switch ValueReader.unwrap(value) {
        case let date as Date: return date.text
        case let any as AnyRealmValue:
            if case .date(let date) = any { return "date(\(date.text))" }
            return "\(value)"
        default: return "\(value)"
        }
    }

    private static func describe(value: Any?, depth: Int) -> String {
        guard let value = ValueReader.unwrap(value) else { return "(null)" }
        switch value {
        case let object as ObjectBase: return describe(object, depth: depth)
        case let data as Data:
            let shown = data.prefix(24).map { format(byte: $0) }.joined()
            return "<\(shown)\(data.count > 24 ? "…" : "") — \(data.count) total bytes>"
        case let date as Date: return date.text
        case let collection as any RealmCollection: return describe(collection: collection, depth: depth)
        case let map as any RealmKeyedCollection: return describe(map: map, depth: depth)
        case let value as AnyRealmValue: return describe(value: value.content, depth: depth)
        default: return "\(value)"
        }
    }

    private static func format(byte: UInt8) -> String {
        let text = String(byte, radix: 16)
        return text.count == 1 ? "0" + text : text
    }

    /// A text whose lines but the first begin with a tab: by bytes, since each level of a graph goes through all that is below it.
    private static func indented(_ text: String) -> String {
        let newline = UInt8(ascii: "\n")
        guard text.utf8.contains(newline) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + text.utf8.count / 8)
        for byte in text.utf8 {
            bytes.append(byte)
            if byte == newline { bytes.append(UInt8(ascii: "\t")) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A map of any types, as far as what stands behind it goes.
protocol BackedMap {
    var backing: _CollectionBacking? { get }
    func requireReadable() throws
    /// Reads a property of each object as well, by a path as key paths say it.
    func requireReadable(path: [PathStep]) throws
    /// Reads the value of a name, and gives the object that it is; nil for others, and where there is none.
    func readableElement(_ element: PathStep.Element) throws -> ObjectBase?
    /// What stands behind it, where what keeps it from being read is an error.
    func readableBacking() throws -> _CollectionBacking?
}

extension Map: BackedMap {
    var backing: _CollectionBacking? { _backing }
}
