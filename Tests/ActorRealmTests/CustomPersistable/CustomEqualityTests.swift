import ActorRealm
import Foundation
import Testing

class PalletRow: EmbeddedObject {
    @Persisted var numbers: List<Int>
    @Persisted var tags: MutableSet<String>
    @Persisted var sizes: Map<String, Double>
    @Persisted var name: String
    @Persisted var weight: Double
    @Persisted var any: AnyRealmValue
    @Persisted var lid: LidRow?
    @Persisted var lids: List<LidRow>
}

class LidRow: EmbeddedObject {
    @Persisted var number: Int
}

/// A type whose values are stored as embedded objects with collections in them.
struct Pallet: CustomPersistable {
    let row: PalletRow
    init(persistedValue: PalletRow) { row = persistedValue }
    init(_ value: [String: Any]) { row = PalletRow(value: value) }
    var persistableValue: PalletRow { row }
}

/// A type whose values are stored as strings.
struct Word: CustomPersistable {
    let text: String
    init(persistedValue: String) { text = persistedValue }
    var persistableValue: String { text }
}

class CrateHolder: Object {
    @Persisted var crates: List<Pallet>
    @Persisted var words: List<Word>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Values of the program's own are equal where they are stored as the same")
struct CustomEqualityTests {
    private static var whole: [String: Any] {
        [
            "numbers": [1, 2], "tags": ["a", "b"], "sizes": ["a": 1.0], "name": composed, "weight": Double.nan,
            "any": AnyRealmValue.int(1), "lid": ["number": 1], "lids": [["number": 1], ["number": 2]],
        ]
    }

    @Test("Of embedded objects all properties count, collections and embedded objects in them too")
    func embedded() {
        let crate = Pallet(Self.whole)
        #expect(crate == Pallet(Self.whole) && crate.hashValue == Pallet(Self.whole).hashValue)
        let others: [[String: Any]] = [
            ["numbers": [1, 3]], ["numbers": [1]], ["numbers": [2, 1]], ["tags": ["a", "c"]], ["sizes": ["a": 2.0]],
            ["sizes": ["b": 1.0]], ["name": decomposed], ["weight": 1.0], ["any": AnyRealmValue.int(2)],
            ["lid": ["number": 2]],
            ["lid": NSNull()], ["lids": [["number": 1], ["number": 3]]],
        ]
        for other in others { #expect(crate != Pallet(Self.whole.merging(other) { $1 }), "\(other)") }
        let same: [[String: Any]] = [["tags": ["b", "a"]], ["any": AnyRealmValue.double(1)]]
        for other in same {
            let other = Pallet(Self.whole.merging(other) { $1 })
            #expect(crate == other && crate.hashValue == other.hashValue)
        }
    }

    @Test("They are found in lists, managed ones too")
    func lists() throws {
        let holder = CrateHolder()
        holder.crates.append(objectsIn: [Pallet(["numbers": [1]]), Pallet(["numbers": [2]])])
        #expect(holder.crates.index(of: Pallet(["numbers": [2]])) == 1)
        let realm = try memoryRealm([CrateHolder.self, PalletRow.self, LidRow.self])
        try realm.write { realm.add(holder) }
        #expect(holder.crates.index(of: Pallet(["numbers": [2]])) == 1)
        #expect(holder.crates.contains(Pallet(["numbers": [1]])) && !holder.crates.contains(Pallet(["numbers": [3]])))
        realm.close()
    }

    @Test("Of strings the bytes count")
    func words() {
        let word = Word(persistedValue: composed)
        #expect(word == Word(persistedValue: composed) && word != Word(persistedValue: decomposed))
        let words = List<Word>()
        words.append(objectsIn: [word, Word(persistedValue: decomposed)])
        #expect(words.index(of: Word(persistedValue: decomposed)) == 1)
    }
}
