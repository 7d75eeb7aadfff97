public import Foundation
import RealmModel

extension RealmCollection {
    /// The elements at some positions, in their order.
    public func objects(at indexes: IndexSet) -> [Element] { indexes.map { self[$0] } }

    /// The values of a property of all objects, as an array; `self` for the elements.
    ///
    /// - Precondition: The objects have such a property.
    public func value(forKey key: String) -> Any? {
        if key == "self" { return map { Element._boxedElement($0) } as [Any?] }
        return map { element in object(element, "value(forKey:)")?[key] } as [Any?]
    }

    /// The values at the end of a path of links, as an array; or what an operator makes of them: `@count`, `@min.age`,
    /// `@max.age`, `@sum.age` and `@avg.age`.
    ///
    /// - Precondition: The objects have such properties.
    public func value(forKeyPath keyPath: String) -> Any? {
        let names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if keyPath == "@count" { return count }
        if let first = names.first, first.hasPrefix("@") {
            let property = names.dropFirst().joined(separator: ".")
            switch first {
            case "@min": return min(ofProperty: property) as Double?
            case "@max": return max(ofProperty: property) as Double?
            case "@sum": return sum(ofProperty: property) as Double
            case "@avg": return average(ofProperty: property) as Double?
            default:
                refuse("Unsupported collection operation '\(first)': use @count, @min, @max, @sum or @avg.")
                return nil
            }
        }
        return map { element -> Any? in
            var value: Any? = object(element, "value(forKeyPath:)")
            for name in names { value = (value as? ObjectBase)?[name] }
            return value
        } as [Any?]
    }

    /// Sets a property of every object.
    ///
    /// - Precondition: The realm is in a write transaction, and the objects have such a property.
    public func setValue(_ value: Any?, forKey key: String) {
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
        guard let core = _backing?.core else { misuse(message) }
        core.mistake(message)
    }
}
