public import Foundation
import RealmModel
import RealmQuery

extension RealmCollection {
    /// The elements at some positions, in their order.
    ///
    /// - Precondition: There are such positions: look at ``count``.
    public func objects(at indexes: IndexSet) -> [Element] { indexes.map { self[$0] } }

    /// The values of a property of all objects, as an array; `self` for the elements.
    ///
    /// - Precondition: The objects have such a property.
    ///   For names from outside ``requireReadable(properties:)`` throws.
    public func value(forKey key: String) -> Any? {
        if key == "self" { return map { Element._boxedElement($0) } as [Any?] }
        return map { element in object(element, "value(forKey:)")?[key] } as [Any?]
    }

    /// The values at the end of a path of names, as an array; or what an operator makes of them.
    ///
    /// `@count` counts; `@min.age`, `@max.age`, `@sum.age` and `@avg.age` compute, over the elements themselves with `self`.
    /// `@unionOfObjects.name` leaves nil out, `@unionOfArrays.dogs` joins collections, and `@distinctUnionOfObjects` and
    /// `@distinctUnionOfArrays` have each value once.
    ///
    /// - Precondition: The objects have such properties.
    ///   For names from outside ``requireReadable(properties:)`` throws.
    public func value(forKeyPath keyPath: String) -> Any? {
        if keyPath == "@count" { return count }
        let names = ValuePath.names(keyPath)
        let rest = names.dropFirst()
        guard let first = names.first, first.hasPrefix("@") else {
            if keyPath == "self" { return value(forKey: keyPath) }
            return map { ValuePath.value(of: object($0, "value(forKeyPath:)"), along: names[...]) } as [Any?]
        }
        if let operation = ValuePath.aggregate(first) {
            return ValuePath.result(aggregate(operation, rest.joined(separator: ".")), of: operation)
        }
        let values = map { Element._boxedElement($0) } as [Any?]
        guard let listed = ValuePath.listing(first, of: values, along: rest == ["self"] ? [] : rest) else {
            refuse(ValuePath.unknownOperator(first))
            return nil
        }
        return listed
    }

    /// Sets a property of every object.
    ///
    /// - Precondition: The realm is in a write transaction, and the objects have such a property.
    ///   For names and values from outside ``ObjectBase/setValues(_:ignoringUnknownKeys:)`` of each object throws.
    public func setValue(_ value: Any?, forKey key: String) {
        let value = ValueReader.repeatable(value)
        for element in self { object(element, "setValue(_:forKey:)")?[key] = value }
    }

    /// The object that an element is; nil for none inside a migration, which keeps the mistake.
    private func object(_ element: Element, _ operation: String) -> ObjectBase? {
        if let object = Element._elementKey(element)?.object { return object }
        // No object, in a collection of optional ones.
        if Element._elementShape.kind == .object, Element._elementShape.isOptional { return nil }
        refuse("\(operation) is only possible for collections of objects.")
        return nil
    }

    private func refuse(_ message: String) {
        guard let backing = _backing, backing.core.migration != nil else { misuse(message) }
        let (className, propertyName) = backing.subject
        backing.core.mistake(message, className, propertyName)
    }
}
