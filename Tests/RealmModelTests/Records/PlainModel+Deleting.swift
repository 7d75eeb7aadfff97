import RealmModel

extension PlainModel {
    /// The rows that a row links to through properties that fit.
    private func targets(_ place: PlainPlace, where fits: (PropertySchema) -> Bool) -> Set<PlainPlace> {
        var found: Set<PlainPlace> = []
        for property in schema(place.className)?.properties ?? [] where property.isLink && fits(property) {
            found.formUnion(value(property.name, of: place).links)
        }
        return found
    }

    /// Everything that goes when rows go; nil when a delete rule denies it.
    func deletion(of places: [PlainPlace]) -> Set<PlainPlace>? {
        var going: Set<PlainPlace> = []
        var pending = places
        while let next = pending.popLast() {
            guard going.insert(next).inserted else { continue }
            pending += targets(next) { $0.deleteRule == .cascade || owns($0) }
        }
        return going.allSatisfy { targets($0) { $0.deleteRule == .deny }.isSubset(of: going) } ? going : nil
    }

    /// Takes rows away, and the links to them.
    mutating func delete(_ going: Set<PlainPlace>) {
        for place in going { rows[place.className]?[place.key] = nil }
        for schema in classes {
            for property in schema.properties where property.makesLinks {
                for key in keys(of: schema.name) {
                    guard let value = rows[schema.name]?[key]?[property.name],
                        value.links.contains(where: going.contains)
                    else { continue }
                    rows[schema.name]?[key]?[property.name] = Self.value(value, of: property, without: going)
                }
            }
        }
    }

    /// A value when rows have gone: lists and sets of links lose them, and null stands for them elsewhere, if it may.
    private static func value(
        _ value: PlainValue,
        of property: PropertySchema,
        without going: Set<PlainPlace>
    ) -> PlainValue {
        func isGone(_ value: PlainValue) -> Bool { value.links.contains(where: going.contains) }
        if property.isLink {
            switch value {
            case .list(let elements): return .list(elements.filter { !isGone($0) })
            case .set(let elements): return .set(elements.filter { !isGone($0) })
            case .map(let entries) where !property.isOptional: return .map(entries.filter { !isGone($0.value) })
            default: break
            }
        }
        return value.mappingLinks { going.contains($0) ? nil : $0 }
    }

    private func isLinked(_ place: PlainPlace) -> Bool {
        classes.contains { schema in
            schema.properties
                .contains { property in
                    guard property.makesLinks else { return false }
                    return rows[schema.name, default: [:]].values
                        .contains { $0[property.name]?.links.contains(place) == true }
                }
        }
    }

    /// Deletes embedded objects that nothing links to.
    mutating func deleteUnowned(_ places: Set<PlainPlace>) {
        for place in places where rows[place.className]?[place.key] != nil && !isLinked(place) {
            // Embedded classes of these tests have no rules that deny anything.
            if let going = deletion(of: [place]) { delete(going) }
        }
    }
}
