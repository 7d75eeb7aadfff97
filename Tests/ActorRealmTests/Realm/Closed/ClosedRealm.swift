import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// What the suites of closed realms have in common: models, and what may be held of a realm when another job closes it.
enum ClosedRealm {
    final class Chest: Object {
        override class func _realmObjectName() -> String? { "Chest" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var name = "chest"
        @Persisted var mood = Mood.cheerful
        @Persisted var level: Level?
        @Persisted var size: Double
        @Persisted var weight: Float
        @Persisted var isOpen: Bool
        @Persisted var packed: Date
        @Persisted var code: UUID
        @Persisted var key: ObjectId
        @Persisted var blob: Data
        @Persisted var price: Decimal128
        @Persisted var note: String?
        @Persisted var amount: Int?
        @Persisted var any: AnyRealmValue
        @Persisted var names: List<String>
        @Persisted var tags: MutableSet<String>
        @Persisted var sizes: Map<String, Int>
        @Persisted var lid: Lid?
        @Persisted var lids: List<Lid>
        @Persisted var next: Chest?
        @Persisted var inner: List<Chest>
        @Persisted(originProperty: "next") var before: LinkingObjects<Chest>
        @Persisted var notes: List<String?>
        @Persisted var days: List<Date>
        @Persisted var codes: List<UUID>
        @Persisted var keys: List<ObjectId>
        @Persisted var moods: List<Mood>
        @Persisted var prices: List<Price>
        @Persisted var places: List<Place>
        @Persisted var anys: List<AnyRealmValue>
        @Persisted var friends: MutableSet<Chest>
        @Persisted var mates: Map<String, Chest?>
        @Persisted var dates: Map<String, Date>
    }

    final class Lid: EmbeddedObject {
        @Persisted var color = "red"
    }

    struct Price: CustomPersistable {
        var cents: Int
        init(persistedValue: Int) { cents = persistedValue }
        var persistableValue: Int { cents }
    }

    struct Place: CustomPersistable {
        var color: String
        init(persistedValue: Lid) { color = persistedValue.color }
        var persistableValue: Lid { Lid(value: ["color": color]) }
    }

    final class Label: Projection<Chest> {
        @Projected(\Chest.name) var name: String
        @Projected(\Chest.inner.projectTo.name) var innerNames: ProjectedCollection<String>
    }

    /// Where the realm is.
    enum Kind: String, CaseIterable, Codable, Sendable {
        case memory, file
    }

    /// Everything that may be held of a realm when another job closes it.
    struct Held {
        let realm: Realm
        let chest: Chest
        let other: Chest
        let lid: Lid
        let dynamic: DynamicObject
        let all: Results<Chest>
        let some: Results<Chest>
        let sorted: Results<Chest>
        let sections: SectionedResults<String, Chest>
        let names: List<String>
        let inner: List<Chest>
        let tags: MutableSet<String>
        let sizes: Map<String, Int>
        let before: LinkingObjects<Chest>
        let nested: List<AnyRealmValue>
        var loop: RealmIterator<Chest>
        var values: RealmIterator<String>
        let frozen: Chest
        let frozenAll: Results<Chest>
        let section: ResultsSection<String, Chest>
        let friends: MutableSet<Chest>
        let labels: Results<Label>
        let label: Label
        let projected: ProjectedCollection<String>
        let innerNames: ProjectedCollection<String>
        let slice: Slice<Results<Chest>>
        let sectionSlice: Slice<SectionedResults<String, Chest>>
        let rowSlice: Slice<ResultsSection<String, Chest>>
        let projectedSlice: Slice<ProjectedCollection<String>>
        let dynamicAll: Results<DynamicObject>
        var sectionLoop: SectionedResults<String, Chest>.Iterator
        var rowLoop: SectionIterator<Chest>
        var projectedLoop: ProjectedCollection<String>.Iterator
    }

    /// Records what the process of an exit test said, where it was to go on and did not.
    static func check(_ result: ExitTest.Result?, _ report: ChildReport, line: SourceLocation = #_sourceLocation) {
        let text = report.take()
        #expect(result != nil, "\(text)", sourceLocation: line)
    }
}
