import RealmModel
import RealmStorage

/// Reads the values at the end of a path, row by row.
///
/// A to-one link that is null makes the value null, but leads nowhere on a path that crosses a collection. Such a path
/// has one value per object at its end, each object once.
final class PathReader {
    let hops: [PathHop]
    let terminal: PathTerminal
    /// Whether there may be more or fewer than one value.
    let isMany: Bool

    init(hops: [PathHop], terminal: PathTerminal) {
        self.hops = hops
        self.terminal = terminal
        var isMany = hops.contains(where: \.isMany)
        switch terminal {
        case .elements, .keys: isMany = true
        case .inside(let inner): isMany = isMany || inner.isMany
        default: break
        }
        self.isMany = isMany
    }

    /// The rough time per row in nanoseconds.
    var cost: Double {
        var cost = hops.reduce(5.0) { $0 + ($1.isMany ? 400 : 40) }
        switch terminal {
        case .value, .row: break
        case .elements, .keys, .entry, .count: cost += 50
        case .inside: cost += 300
        case .aggregate: cost += 500
        case .subquery(let counter): cost += 300 + 10 * counter.condition.cost
        }
        return cost
    }

    /// Calls a function with every value until it returns false.
    func forEach(
        _ location: RowLocation,
        key: Int64,
        _ context: QueryContext,
        _ body: (BorrowedValue) throws -> Bool
    ) throws {
        if hops.isEmpty {
            _ = try emit(location, key: key, context, body)
        } else if hops.contains(where: \.isMany) {
            try forEachOfMany(location, key: key, context, body)
        } else {
            var location = location
            var key = key
            for (index, hop) in hops.enumerated() {
                guard let next = try hop.target(of: location, key: key) else {
                    if !isMany { _ = try body(.null) }
                    return
                }
                key = next
                if index == hops.count - 1, case .row = terminal {
                    _ = try body(.int(key))
                    return
                }
                guard let target = try context.locate(key, in: hop.target, slot: hop.slot) else {
                    if !isMany { _ = try body(.null) }
                    return
                }
                location = target
            }
            _ = try emit(location, key: key, context, body)
        }
    }

    /// The objects reached by each hop, every one once, so that paths through cycles stay bounded.
    private func forEachOfMany(
        _ location: RowLocation,
        key: Int64,
        _ context: QueryContext,
        _ body: (BorrowedValue) throws -> Bool
    ) throws {
        var keys = try hops[0].targets(of: location, key: key)
        for index in 1..<max(1, hops.count) where index < hops.count {
            let previous = hops[index - 1]
            var next: [Int64] = []
            for key in unique(keys) {
                guard let location = try context.locate(key, in: previous.target, slot: previous.slot) else { continue }
                next += try hops[index].targets(of: location, key: key)
            }
            keys = next
        }
        let last = hops[hops.count - 1]
        for key in unique(keys) {
            if case .row = terminal {
                guard try body(.int(key)) else { return }
            } else {
                guard let location = try context.locate(key, in: last.target, slot: last.slot) else { continue }
                guard try emit(location, key: key, context, body) else { return }
            }
        }
    }

    private func unique(_ keys: [Int64]) -> [Int64] {
        if keys.count < 2 { return keys }
        var seen = Set<Int64>(minimumCapacity: keys.count)
        return keys.filter { seen.insert($0).inserted }
    }

    /// Emits the values of the last row; false when the function wants no more.
    private func emit(
        _ location: RowLocation,
        key: Int64,
        _ context: QueryContext,
        _ body: (BorrowedValue) throws -> Bool
    ) throws -> Bool {
        switch terminal {
        case .value(let table, let property, let kind):
            return try body(table.column(property, in: location.leaf).borrowed(location.row, as: kind))
        case .elements(let table, let property):
            return try table.forEachElement(property, at: location, key: key, body)
        case .keys(let table, let property):
            let map = try table.map(property, at: location, key: key)
            for index in 0..<map.count {
                guard try body(.bytes(map.entry(at: index).key)) else { return false }
            }
            return true
        case .entry(let table, let property, let name):
            let map = try table.map(property, at: location, key: key)
            let place = try map.position(of: name)
            return try body(place.isThere ? map.entry(at: place.index).value : .null)
        case .inside(let inner):
            return try inner.forEach(location, key: key, body)
        case .row:
            return try body(.int(key))
        case .count(let collection):
            return try body(.int(Int64(collection.count(of: location, key: key))))
        case .aggregate(let aggregate):
            let value = try aggregate.value(of: location, key: key, context)
            return try value.withBorrowed(for: aggregate.resultKind) { try body($0) }
        case .subquery(let counter):
            return try body(.int(Int64(counter.count(of: location, key: key, context))))
        }
    }
}
