import ActorRealm
import Testing

private final class Tray: Object {
    override class func _realmObjectName() -> String? { "ElementPathTray" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var name: String
    @Persisted var mood: Mood
    @Persisted var moods: List<Mood>
    @Persisted var kinds: MutableSet<Mood>
    @Persisted var byName: Map<String, Mood>
    @Persisted var trays: List<Tray>
    @Persisted var trayByName: Map<String, Tray?>
    @Persisted(originProperty: "trays") var holders: LinkingObjects<Tray>
}

private func code(_ body: () throws -> Void) -> Realm.Error.Code? {
    do { try body() } catch { return (error as? Realm.Error)?.code }
    return nil
}

/// What stands behind `first`, `last` or a name is read before the getter reads it, and nothing beside it.
@Suite("Key paths to an element of a collection", .timeLimit(.minutes(60)))
struct ElementPathTests {
    @Test("A value of a collection is read before its getter is, at the first place, at the last, and by its name")
    func values() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([Tray.self])
            let tray = try realm.write {
                let values: [String: Any] = [
                    "name": "a", "moods": ["calm", "grumpy"], "kinds": ["calm"],
                    "byName": ["a": "calm", "b": "grumpy"],
                ]
                return realm.create(Tray.self, value: values)
            }
            let unmanaged = Tray()
            unmanaged.moods.append(.calm)
            unmanaged.moods.append(.grumpy)
            unmanaged.byName["a"] = .calm
            for object in [tray, unmanaged] {
                let found = try [object.value(of: \.moods.first), object.value(of: \.moods.last)]
                #expect(found == [.calm, .grumpy])
                let named = try [object.value(of: \.byName["a"]), object.value(of: \.byName["none"])]
                #expect(named == [.calm, nil])
            }
            let kinds = try [tray.value(of: \.kinds.first), tray.value(of: \.kinds.last)]
            #expect(kinds == [.calm, .calm])
            let none = try [unmanaged.value(of: \.kinds.first), unmanaged.value(of: \.kinds.last)]
            #expect(none == [nil, nil])
            try realm.write {
                let dynamic = realm.dynamicObjects("ElementPathTray")[0]
                dynamic["moods"] = ["calm", "jubilant"]
                dynamic["kinds"] = ["jubilant"]
                dynamic["byName"] = ["a": "calm", "b": "jubilant"]
            }
            let codes = [
                code { _ = try tray.value(of: \.moods.last) }, code { _ = try tray.value(of: \.kinds.first) },
                code { _ = try tray.value(of: \.kinds.last) }, code { _ = try tray.value(of: \.byName["b"]) },
                code { try realm.objects(Tray.self).requireReadable(\.moods.last) },
            ]
            #expect(codes == [Realm.Error.Code?](repeating: .invalidInput, count: 5))
            // What is beside it does not matter.
            let first = try tray.value(of: \.moods.first)
            let named = try tray.value(of: \.byName["a"])
            #expect(first == .calm && named == .calm)
        }
    }

    @Test("A property of one element is read before its getter is, and those of the others are not")
    func objects() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([Tray.self])
            let tray = try realm.write {
                let values: [String: Any] = [
                    "name": "a", "trays": [["name": "b"], ["name": "c"]],
                    "trayByName": ["b": ["name": "d"], "c": ["name": "e"]],
                ]
                return realm.create(Tray.self, value: values)
            }
            let last = try tray.value(of: \.trays.last?.name)
            let named = try tray.value(of: \.trayByName["c"]??.name)
            let holder = try tray.trays[0].value(of: \.holders.last?.name)
            let none = try tray.value(of: \.holders.last?.name)
            #expect(last == "c" && named == "e" && holder == "a" && none == nil)
            let (first, second) = (tray.trays[0], tray.trays[1])
            try realm.write {
                for dynamic in realm.dynamicObjects("ElementPathTray") {
                    if ["a", "c", "e"].contains(dynamic["name"] as? String) { dynamic["mood"] = "jubilant" }
                }
            }
            let codes = [
                code { _ = try tray.value(of: \.trays.last?.mood) },
                code { _ = try tray.value(of: \.trayByName["c"]??.mood) },
                code { _ = try first.value(of: \.holders.last?.mood) },
                code { _ = try second.value(of: \.holders.first?.trays.last?.mood) },
            ]
            #expect(codes == [Realm.Error.Code?](repeating: .invalidInput, count: 4))
            let moods = try [
                tray.value(of: \.trays.first?.mood), tray.value(of: \.trayByName["b"]??.mood),
                second.value(of: \.holders.first?.trays.first?.mood),
            ]
            #expect(moods == [.calm, .calm, .calm])
        }
    }

    private final class FirstTray: Projection<Tray> {
        @Projected(\Tray.trays.first?.mood) var mood: Mood?
    }

    @Test("A projection of one element's property does not look at the others")
    func projected() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([Tray.self])
            let tray = try realm.write {
                let values: [String: Any] = ["name": "a", "trays": [["name": "b"], ["name": "c"]]]
                return realm.create(Tray.self, value: values)
            }
            try realm.write {
                for dynamic in realm.dynamicObjects("ElementPathTray") where dynamic["name"] as? String == "c" {
                    dynamic["mood"] = "jubilant"
                }
            }
            let view = FirstTray(projecting: tray)
            try view.requireReadable()
            #expect(view.description.contains("calm"))
        }
    }
}
