import ActorRealm

/// A class that links to objects, and deletes them with its own, or denies its deletion for them, or neither, as its release declares.
enum ReleaseKeeper {
    final class Kept: Object {
        @Persisted var n: Int
        override class func _realmObjectName() -> String? { "Kept" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    final class Plain: Object {
        @Persisted var n: Int
        @Persisted var kept: List<Kept>
        override class func _realmObjectName() -> String? { "Keeper" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    final class Cascading: Object {
        @Persisted var n: Int
        @Persisted(onDelete: .cascade) var kept: List<Kept>
        override class func _realmObjectName() -> String? { "Keeper" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    final class Denying: Object {
        @Persisted var n: Int
        @Persisted(onDelete: .deny) var kept: List<Kept>
        override class func _realmObjectName() -> String? { "Keeper" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    static func type(_ rule: ReleaseShape.Rule) -> Object.Type {
        switch rule {
        case .nullify: Plain.self
        case .cascade: Cascading.self
        case .deny: Denying.self
        }
    }

    private static func all(_ rule: ReleaseShape.Rule, in realm: Realm) -> [Object] {
        switch rule {
        case .nullify: realm.objects(Plain.self).map { $0 as Object }
        case .cascade: realm.objects(Cascading.self).map { $0 as Object }
        case .deny: realm.objects(Denying.self).map { $0 as Object }
        }
    }

    /// What a realm holds of the classes, by class and number.
    static func rows(_ rule: ReleaseShape.Rule, in realm: Realm) -> [String: [Int: ReleaseWorld.Row]] {
        var keepers: [Int: ReleaseWorld.Row] = [:]
        for keeper in all(rule, in: realm) {
            guard let number = keeper["n"] as? Int, let objects = keeper["kept"] as? List<Kept> else { continue }
            keepers[number] = ["n": .int(number), "kept": .ints(objects.map(\.n))]
        }
        var kept: [Int: ReleaseWorld.Row] = [:]
        for object in realm.objects(Kept.self) { kept[object.n] = ["n": .int(object.n)] }
        return ["Keeper": keepers, "Kept": kept]
    }

    /// Fills a new file.
    static func fill(_ realm: Realm, _ rule: ReleaseShape.Rule, with world: ReleaseWorld) {
        var kept: [Int: Kept] = [:]
        for number in (world.classes["Kept"] ?? [:]).keys.sorted() {
            kept[number] = realm.create(Kept.self, value: ["n": number])
        }
        for (number, row) in (world.classes["Keeper"] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard case .ints(let numbers)? = row["kept"] else { continue }
            let objects = numbers.compactMap { kept[$0] }
            realm.create(type(rule), value: ["n": number, "kept": objects] as [String: Any])
        }
    }

    /// Deletes a keeper in a transaction, which fails at its end where the rule in force denies that.
    static func delete(_ number: Int, _ rule: ReleaseShape.Rule, in realm: Realm) {
        guard let keeper = all(rule, in: realm).first(where: { $0["n"] as? Int == number }) else { return }
        realm.delete(keeper)
    }
}
