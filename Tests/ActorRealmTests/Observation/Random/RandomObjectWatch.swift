@testable import ActorRealm

/// What the observer of an object was told.
enum ToldObjectChange: Equatable, Sendable {
    struct Property: Equatable, Sendable {
        let name: String
        let old: PlainValue
        let new: PlainValue
    }

    case change(id: PlainValue, [Property])
    case deleted
    case failure
}

/// Iterates over the changes of one object, where it is; a link is told by the `id` behind it.
final class RandomObjectWatch {
    private var iterator: ObjectChanges<DynamicObject>.Iterator

    init(_ changes: ObjectChanges<DynamicObject>) {
        iterator = changes.makeAsyncIterator()
    }

    func next() async -> ToldObjectChange? {
        switch await iterator.next() {
        case .change(let object, let properties):
            .change(
                id: PlainProperty.plain(object["id"]),
                properties.map { .init(name: $0.name, old: plain($0.oldValue), new: plain($0.newValue)) }
            )
        case .deleted: .deleted
        case .error: .failure
        case nil: nil
        }
    }

    private func plain(_ value: Any?) -> PlainValue {
        if let object = value as? DynamicObject { return .link(object["id"] as? Int ?? -1) }
        return PlainProperty.plain(value)
    }
}

/// An actor with a realm of its own.
actor ObjectWatcher {
    private var watches: [Int: RandomObjectWatch] = [:]

    func begin(_ number: Int, _ changes: ObjectChanges<DynamicObject>) {
        watches[number] = RandomObjectWatch(changes)
    }

    func next(_ number: Int) async -> ToldObjectChange? {
        guard let watch = watches[number] else { return nil }
        return await watch.next()
    }
}

/// No actor: what is told is frozen.
///
/// Unchecked because a test asks for one change after the other.
final class FreeObjectWatcher: @unchecked Sendable {
    private let watch: RandomObjectWatch

    init(_ changes: ObjectChanges<DynamicObject>) { watch = RandomObjectWatch(changes) }

    @concurrent
    func next() async -> ToldObjectChange? { await watch.next() }
}

extension PlainWorld {
    /// What the observer of an object is to be told, given what was written; without key paths, of its own properties.
    func change(
        of address: PlainAddress,
        keyPaths: [String]?,
        from old: PlainWorld,
        _ writes: PlainWrites
    ) -> ToldObjectChange {
        guard let row = row(address) else { return .deleted }
        func value(_ world: PlainWorld, _ property: PlainProperty) -> PlainValue {
            if !property.isSingle { return .null }
            if let target = world.targets(address, property.name).first { return .link(world.row(target)!.id) }
            return world.row(address)?.values[property.name] ?? .null
        }
        let paths = (keyPaths ?? []).map { $0.split(separator: ".").map(String.init)[...] }
        let written =
            paths.isEmpty
            ? writes[address] ?? [] : Set(paths.filter { isWritten($0, address, writes) }.compactMap(\.first))
        let properties = classes[address.type].properties.filter { written.contains($0.name) && $0.origin == nil }
        return .change(
            id: .value(.int(row.id)),
            properties.map { .init(name: $0.name, old: value(old, $0), new: value(self, $0)) }
        )
    }
}
