import RealmModel
import RealmTestSupport
import Testing

@testable import ActorRealm

/// An observed map of numbers, words, objects or embedded ones.
struct PlainMap: PlainObserved {
    let owner: PlainAddress
    let property: PlainProperty
    var keyPaths: [String]?

    var summary: String { "\(owner).\(property.name), key paths \(keyPaths.map { "\($0)" } ?? "all")" }

    var origin: PlainAddress? { owner }

    func isGone(_ world: PlainWorld) -> Bool { world.row(owner) == nil }

    private func content(_ world: PlainWorld) -> [PlainText: PlainValue] {
        world.row(owner)?.maps[property.name] ?? [:]
    }

    /// The names to be told.
    private func names(from old: PlainWorld, to new: PlainWorld, _ writes: PlainWrites) -> ToldChange.ToldNames {
        let (before, after) = (content(old), content(new))
        let modified = property.target.map { new.modified($0, keyPaths, writes) } ?? []
        return ToldChange.ToldNames(
            deletions: before.keys.filter { after[$0] == nil }.sorted(),
            insertions: after.keys.filter { before[$0] == nil }.sorted(),
            modifications:
                before.filter { key, value in
                    guard let now = after[key] else { return false }
                    if case .link(let serial) = now, modified.contains(serial) { return true }
                    return now != value
                }
                .keys.sorted()
        )
    }

    func isConcerned(from old: PlainWorld, to new: PlainWorld, _ writes: PlainWrites) -> Bool {
        names(from: old, to: new, writes) != ToldChange.ToldNames() || isGone(old) != isGone(new)
    }

    func check(_ told: ToldChange, from old: PlainWorld?, to new: PlainWorld, _ writes: PlainWrites, _ comment: Comment)
    {
        #expect(told.failure == nil, comment)
        let after = content(new)
        let texts = after.mapValues { value in
            guard case .link(let serial) = value else { return "\(value)" }
            return new.text(PlainAddress(type: property.target!, serial: serial), depth: 2)
        }
        let toldTexts = Dictionary(uniqueKeysWithValues: zip(told.keys, told.texts))
        #expect(toldTexts == texts, comment)
        #expect(told.isInitial == (old == nil), comment)
        guard let old else { return }
        #expect(told.names == names(from: old, to: new, writes), comment)
    }

    func changes(_ world: PlainWorld, in realm: Realm) -> PlainChanges {
        let map = world.object(owner, in: realm)![property.name] as! any ReadMap
        guard let target = property.target else { return map.plainChanges(nil, PlainChanges.valueText) }
        return map.plainChanges(keyPaths, PlainChanges.objectText(target, world.classes))
    }

    /// A map of a random object; nil when there is none.
    static func random(_ world: PlainWorld, _ random: inout SplitMix64) -> PlainMap? {
        let type = world.classes.indices.randomElement(using: &random)!
        guard let serial = world.serials(type).randomElement(using: &random),
            let property = world.classes[type].maps.randomElement(using: &random)
        else { return nil }
        var map = PlainMap(owner: PlainAddress(type: type, serial: serial), property: property)
        if let target = property.target, Int.random(in: 0..<3, using: &random) == 0 {
            map.keyPaths = world.randomKeyPaths(target, &random)
        }
        return map
    }
}

extension PlainWorld {
    /// Key paths of a class: up to two, each up to three properties long.
    func randomKeyPaths(_ type: Int, _ random: inout SplitMix64, atLeast least: Int = 0) -> [String] {
        (0..<Int.random(in: least...2, using: &random))
            .map { _ in
                var type = type
                var path: [String] = []
                while true {
                    let property = classes[type].properties.filter { $0.origin == nil }.randomElement(using: &random)!
                    path.append(property.name)
                    guard let target = property.target, path.count < 3, Int.random(in: 0..<4, using: &random) > 0 else {
                        return path.joined(separator: ".")
                    }
                    type = target
                }
            }
    }
}
