import Foundation
import RealmModel
import RealmQuery

/// Values at the end of a path of names, as key-value coding finds them: through links, collections and maps.
enum ValuePath {
    /// The names of a path.
    static func names(_ keyPath: String) -> [String] {
        keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// Why a path of names leads to no property.
    struct Mistake: Swift.Error {
        let name: String
        let message: String

        /// A step behind what leads to no object, or to several.
        init(behind name: String) {
            self.name = name
            message = "Property '\(name)' in a path of names is no link."
        }

        init(_ name: String, _ message: String) {
            self.name = name
            self.message = message
        }
    }

    /// The property of a class that a path of names leads to, across links only; nil where a class on the way is known to its realm alone.
    static func property(_ path: String, of info: ModelClass?) throws(Mistake) -> ModelProperty? {
        var info = info
        let names = names(path)
        for (position, name) in names.enumerated() {
            guard let current = info else {
                throw Mistake(name, "Property '\(name)' is looked for in what is no object.")
            }
            guard let property = current.property(name) else {
                throw Mistake(name, current.unknownPropertyMessage(name))
            }
            if position == names.count - 1 { return property }
            guard property.isLink else { throw Mistake(behind: name) }
            guard let target = property.declaredTarget else { return nil }
            info = target
        }
        return nil
    }

    /// What a value has at the end of a path; nil when a link leads nowhere, or a value has no names.
    static func value(of value: Any?, along names: ArraySlice<String>) -> Any? {
        guard let name = names.first else { return value }
        switch ValueReader.unwrap(value) {
        case let object as ObjectBase: return self.value(of: object[name], along: names.dropFirst())
        case let map as any RealmKeyedCollection: return map.value(forKeyPath: names.joined(separator: "."))
        case let collection as any RealmCollection: return collection.value(forKeyPath: names.joined(separator: "."))
        default: return nil
        }
    }

    /// Sets what has a name in a value: a property of an object, and of each object of a collection or an array; an entry of a map.
    ///
    /// Nothing happens where a link led nowhere, and in a value that has no names.
    static func set(_ value: Any?, forKey key: String, in target: Any?) {
        switch ValueReader.unwrap(target) {
        case let object as ObjectBase: object[key] = value
        case let map as any RealmKeyedCollection: map.setValue(value, forKey: key)
        case let collection as any RealmCollection: collection.setValue(value, forKey: key)
        case let several as [Any?]:
            let value = ValueReader.repeatable(value)
            for element in several { set(value, forKey: key, in: element) }
        default: break
        }
    }

    /// What an operator that computes is: `@min`, `@max`, `@sum` or `@avg`.
    static func aggregate(_ name: String) -> AggregateOperation? {
        switch name {
        case "@min": .minimum
        case "@max": .maximum
        case "@sum": .sum
        case "@avg": .average
        default: nil
        }
    }

    /// What an operator computed, numbers as Foundation's: they can be taken for an `Int` and for a `Double`.
    static func result(_ stored: _Stored, of operation: AggregateOperation) -> Any? {
        switch stored.value {
        case .int(let value): NSNumber(value: value)
        case .float(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .date: Date._fromStored(stored)
        case .decimal: Decimal128._fromStored(stored)
        default: operation == .sum ? NSNumber(value: 0) : nil
        }
    }

    /// What an operator that lists finds in some values: `@unionOfObjects`, `@unionOfArrays`, and both with each value once.
    ///
    /// - Returns: nil for other operators.
    static func listing(_ name: String, of values: [Any?], along names: ArraySlice<String>) -> [Any]? {
        let found = values.lazy.map { value(of: $0, along: names) }
        let listed: [Any]
        switch name {
        case "@unionOfObjects", "@distinctUnionOfObjects": listed = found.compactMap { ValueReader.unwrap($0) }
        case "@unionOfArrays", "@distinctUnionOfArrays":
            listed = found.flatMap { value -> [Any] in
                (value.flatMap { ValueReader.elements(of: $0) } ?? []).compactMap { ValueReader.unwrap($0) }
            }
        default: return nil
        }
        guard name.hasPrefix("@distinct") else { return listed }
        var seen: Set<AnyHashable> = []
        return listed.filter { value in identity(of: value).map { seen.insert($0).inserted } ?? true }
    }

    /// What is the same for values that are equal in a realm: those of one place in its order, and objects of one row.
    private static func identity(of value: Any) -> AnyHashable? {
        if let object = ValueReader.object(value) { return rowIdentity(of: object) }
        guard let element = value as? any RealmCollectionValue else { return value as? AnyHashable }
        if case .object(let object)? = element as? AnyRealmValue { return rowIdentity(of: object) }
        func key<Element: RealmCollectionValue>(_ element: Element) -> AnyHashable {
            Element._setKey(element).map { AnyHashable($0.value) } ?? AnyHashable(element)
        }
        return key(element)
    }

    /// Has another name: with the same one, an object would be taken for any value again.
    private static func rowIdentity(of object: ObjectBase) -> AnyHashable {
        guard object.core != nil, let accessor = object.tableAccessor else { return AnyHashable(object) }
        return AnyHashable([AnyHashable(ObjectIdentifier(accessor.table)), AnyHashable(object.rowKey)])
    }

    /// Says that there is no such operator.
    static func unknownOperator(_ name: String) -> String {
        """
        Unsupported collection operation '\(name)': use @count, @min, @max, @sum, @avg, @unionOfObjects, \
        @distinctUnionOfObjects, @unionOfArrays or @distinctUnionOfArrays.
        """
    }
}
