public import Foundation

extension RealmCollection {
    /// The elements at some positions, in their order.
    public func objects(at indexes: IndexSet) -> [Element] { indexes.map { self[$0] } }

    /// The values of a property of all objects, as an array; `self` for the elements.
    ///
    /// - Precondition: The objects have such a property.
    public func value(forKey key: String) -> Any? {
        if key == "self" { return map { Element._boxedElement($0) } as [Any?] }
        return map { element in object(element, "value(forKey:)")[key] } as [Any?]
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
            default: misuse("Unsupported collection operation '\(first)': use @count, @min, @max, @sum or @avg.")
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
        for element in self { object(element, "setValue(_:forKey:)")[key] = value }
    }

    private func object(_ element: Element, _ operation: String) -> ObjectBase {
        guard let object = Element._elementKey(element)?.object else {
            misuse("\(operation) is only possible for collections of objects.")
        }
        return object
    }
}
