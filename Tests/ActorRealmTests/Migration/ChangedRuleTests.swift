import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// Classes that have a rule, and what a later release makes of them.
enum ChangedRules {
    class Item: Object {
        @Persisted(onDelete: .cascade) var part: Part?
        @Persisted(onDelete: .deny) var parts: List<Part>
        override class func _realmObjectName() -> String? { "RuleItem" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Part: Object {
        @Persisted var name = ""
        override class func _realmObjectName() -> String? { "RulePart" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class OwningItem: Object {
        @Persisted var part: OwnedPart?
        @Persisted var parts: List<OwnedPart>
        override class func _realmObjectName() -> String? { "RuleItem" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class OwnedPart: EmbeddedObject {
        @Persisted var name = ""
        override class func _realmObjectName() -> String? { "RulePart" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Pair: Object {
        @Persisted var a: String
        @Persisted var b: Int
        override class func compoundIndexes() -> [CompoundIndex] { [CompoundIndex("a", "b", unique: true)] }
        override class func _realmObjectName() -> String? { "RulePair" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class NumberPair: Object {
        @Persisted var a: Int
        @Persisted var b: Int
        override class func compoundIndexes() -> [CompoundIndex] { [CompoundIndex("a", "b", unique: true)] }
        override class func _realmObjectName() -> String? { "RulePair" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class OptionalPair: Object {
        @Persisted var a: String?
        @Persisted var b: Int
        override class func compoundIndexes() -> [CompoundIndex] { [CompoundIndex("a", "b", unique: true)] }
        override class func _realmObjectName() -> String? { "RulePair" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class DoublePair: Object {
        @Persisted var a: Double
        @Persisted var b: Int
        override class func _realmObjectName() -> String? { "RulePair" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class DataPair: Object {
        @Persisted var a: Data
        @Persisted var b: Int
        override class func _realmObjectName() -> String? { "RulePair" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class ListPair: Object {
        @Persisted var a: List<String>
        @Persisted var b: Int
        override class func _realmObjectName() -> String? { "RulePair" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class LinkPair: Object {
        @Persisted var a: LinkPair?
        @Persisted var b: Int
        override class func _realmObjectName() -> String? { "RulePair" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class AnyPair: Object {
        @Persisted var a: AnyRealmValue
        @Persisted var b: Int
        override class func _realmObjectName() -> String? { "RulePair" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class InversePair: Object {
        @Persisted(originProperty: "link") var a: LinkingObjects<InversePair>
        @Persisted var b: Int
        @Persisted var link: InversePair?
        override class func _realmObjectName() -> String? { "RulePair" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Single: Object {
        @Persisted(unique: true) var a: String
        override class func _realmObjectName() -> String? { "RuleSingle" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class DoubleSingle: Object {
        @Persisted var a: Double
        override class func _realmObjectName() -> String? { "RuleSingle" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// A class that is named as a kind is.
    class Word: Object {
        @Persisted var text: String
        override class func _realmObjectName() -> String? { "string" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Sentence: Object {
        @Persisted var words: List<Word>
        override class func _realmObjectName() -> String? { "RuleSentence" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class TextSentence: Object {
        @Persisted var words: List<String>
        override class func _realmObjectName() -> String? { "RuleSentence" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class RenamedSentence: Object {
        @Persisted var texts: List<String>
        override class func _realmObjectName() -> String? { "RuleSentence" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

@Suite("Migrations of what has rules") struct ChangedRuleTests {
    private let directory = TemporaryDirectory()

    private var path: String { directory.path("ruled.realm") }

    private func configuration(
        _ types: [ObjectBase.Type],
        version: UInt64,
        _ block: MigrationBlock? = nil
    ) -> Realm.Configuration {
        OutdatedRealmTests.configuration(path, types, version: version, block)
    }

    /// A class of the file, every structure of which is sound.
    private func storedClass(_ name: String) throws -> ClassSchema {
        let file = try StorageFile.open(path: path, options: StorageOptions())
        try FileVerifier.verify(file.beginRead())
        return try #require(try SchemaReconciler.storedSchema(of: file.beginRead())?[name])
    }

    @Test(arguments: [false, true])
    func `a class becomes embedded where a link to it has a delete rule`(_ hasBlock: Bool) throws {
        try withNewRealm(configuration([ChangedRules.Item.self], version: 1)) { realm in
            try realm.write {
                let item = realm.create(ChangedRules.Item.self, value: ["part": ["name": "one"]])
                item.parts.append(realm.create(ChangedRules.Part.self, value: ["name": "two"]))
            }
        }
        let block: MigrationBlock = { migration, _ in
            migration.enumerateObjects(ofType: "RulePart") { old, new in new?["name"] = "\(old?["name"] ?? "") more" }
        }
        let later = configuration([ChangedRules.OwningItem.self], version: 2, hasBlock ? block : nil)
        try withNewRealm(later) { realm in
            let item = try #require(realm.objects(ChangedRules.OwningItem.self).first)
            let suffix = hasBlock ? " more" : ""
            #expect(item.part?.name == "one\(suffix)" && item.parts.map(\.name) == ["two\(suffix)"])
            try realm.write { realm.delete(item) }
            let count = try realm.core.model.table(named: "RulePart")?.count
            #expect(count == 0)
        }
        #expect(try storedClass("RulePart").isEmbedded)
        #expect(try storedClass("RuleItem").properties.map(\.deleteRule) == [.nullify, .nullify])
    }

    /// What a property of a unique index over two becomes, and how a block fills it.
    struct Retyping: Sendable {
        let type: ObjectBase.Type
        let isIndexed: Bool
        let write: @Sendable (MigrationObject) -> Void

        init(_ type: ObjectBase.Type, isIndexed: Bool = false, _ write: @escaping @Sendable (MigrationObject) -> Void) {
            self.type = type
            self.isIndexed = isIndexed
            self.write = write
        }
    }

    static let retypings: [Retyping] = [
        Retyping(ChangedRules.NumberPair.self, isIndexed: true) { $0["a"] = 7 },
        Retyping(ChangedRules.OptionalPair.self, isIndexed: true) { $0["a"] = "same" },
        Retyping(ChangedRules.DoublePair.self) { $0["a"] = 1.5 },
        Retyping(ChangedRules.DataPair.self) { $0["a"] = Data([1]) },
        Retyping(ChangedRules.ListPair.self) { $0["a"] = ["x"] },
        Retyping(ChangedRules.LinkPair.self) { $0["a"] = $0 },
        Retyping(ChangedRules.AnyPair.self) { $0["a"] = "x" },
        Retyping(ChangedRules.InversePair.self) { $0["link"] = $0 },
    ]

    @Test(arguments: retypings.indices)
    func `a property of a unique index over several may get any other type`(_ number: Int) async throws {
        try withNewRealm(configuration([ChangedRules.Pair.self], version: 1)) { realm in
            try realm.write {
                for index in 0..<3 { realm.create(ChangedRules.Pair.self, value: ["a": "a\(index)", "b": index]) }
            }
        }
        await #expect(processExitsWith: .success) { [path = path as String, number = number as Int] in
            let retyping = ChangedRuleTests.retypings[number]
            let later = OutdatedRealmTests.configuration(path, [retyping.type], version: 2) { migration, _ in
                migration.enumerateObjects(ofType: "RulePair") { old, new in
                    #expect(old?["a"] is String)
                    if let new { retyping.write(new) }
                }
            }
            try withNewRealm(later) { realm in
                let count = realm.dynamicObjects("RulePair").count
                #expect(count == 3)
            }
        }
        let indexes = Self.retypings[number].isIndexed ? [CompoundIndexSchema(["a", "b"], isUnique: true)] : []
        #expect(try storedClass("RulePair").compoundIndexes == indexes)
    }

    @Test func `a unique property may get a type that has no index`() throws {
        try withNewRealm(configuration([ChangedRules.Single.self], version: 1)) { realm in
            try realm.write {
                for index in 0..<3 { realm.create(ChangedRules.Single.self, value: ["a": "a\(index)"]) }
            }
        }
        let later = configuration([ChangedRules.DoubleSingle.self], version: 2) { migration, _ in
            migration.enumerateObjects(ofType: "RuleSingle") { _, new in new?["a"] = 1.5 }
        }
        try withNewRealm(later) { realm in
            #expect(realm.objects(ChangedRules.DoubleSingle.self).map(\.a) == [1.5, 1.5, 1.5])
        }
        #expect(try storedClass("RuleSingle")["a"]?.hasIndex == false)
    }

    @Test func `a class that the program does not declare keeps its unique rules`() throws {
        try withNewRealm(configuration([RuledMember.self, ChangedRules.Single.self], version: 1)) { realm in
            try realm.write { _ = realm.create(RuledMember.self, value: ["email": "m", "city": "x", "rank": 1]) }
        }
        let later = configuration([ChangedRules.Single.self], version: 2) { migration, _ in
            migration.create("RuleSingle", value: ["a": "new"])
        }
        try withNewRealm(later) { _ in }
        let member = try storedClass("Member")
        #expect(member["email"]?.isUnique == true)
        #expect(member.compoundIndexes == [CompoundIndexSchema(["city", "rank"], isUnique: true)])
        #expect(try storedClass("RuleSingle")["a"]?.isUnique == true)
    }

    @Test func `a class that is named as a kind is not that kind`() throws {
        try withNewRealm(configuration([ChangedRules.Sentence.self], version: 1)) { realm in
            try realm.write {
                let sentence = realm.create(ChangedRules.Sentence.self)
                sentence.words.append(realm.create(ChangedRules.Word.self, value: ["text": "word"]))
            }
        }
        let renaming = configuration([ChangedRules.RenamedSentence.self], version: 2) { migration, _ in
            migration.renameProperty(onType: "RuleSentence", from: "words", to: "texts")
        }
        let mistake = #expect(throws: Realm.Error.self) { try withNewRealm(renaming) { _ in } }
        #expect(mistake?.code == .invalidInput)
        let retyping = configuration([ChangedRules.TextSentence.self], version: 2)
        let loss = #expect(throws: Realm.Error.self) { try withNewRealm(retyping) { _ in } }
        #expect(loss?.code == .lossyMigration)
        #expect(loss?.details == Realm.Error.Details(className: "RuleSentence", propertyName: "words", count: 1))
    }
}
