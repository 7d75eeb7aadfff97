import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// Random operations in transactions that commit, are cancelled or throw, beside a plain model.
///
/// `ROLLBACK_CASES` gives the number of operations, `ROLLBACK_SEED` the first seed.
@Suite("Random rollbacks", .timeLimit(.minutes(60)))
struct RandomRollbackTests {
    class Knot: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var name: String
        @Persisted var tags: List<String>
        @Persisted var marks: MutableSet<Int>
        @Persisted var notes: Map<String, Int>
        @Persisted var any: AnyRealmValue
        @Persisted var part: Strand?
        @Persisted var parts: List<Strand>
        @Persisted var next: Knot?
        @Persisted var others: List<Knot>
    }

    class Strand: EmbeddedObject {
        @Persisted var label: Int
    }

    /// What an object holds; objects are named by numbers that are never used twice.
    private struct Plain {
        var name = ""
        var tags: [String] = []
        var marks: Set<Int> = []
        var notes: [String: Int] = [:]
        var any: [Int] = []
        var part: Int?
        var parts: [Int] = []
        var next: Int?
        var others: [Int] = []
    }

    private struct Refused: Error {}

    private struct Run {
        let realm: Realm
        var random: SplitMix64
        var knots: [Int: Plain] = [:]
        var strands: [Int: Int] = [:]
        var lastNumber = 0
        var heldKnots: [(object: Knot, number: Int)] = []
        var heldStrands: [(object: Strand, number: Int)] = []
        var heldTags: [(list: List<String>, number: Int)] = []
        var heldValues: [(list: List<AnyRealmValue>, number: Int)] = []
        var references: [(reference: ObjectReference<Knot>, number: Int)] = []
        var operationCount = 0

        mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

        mutating func number() -> Int {
            lastNumber += 1
            return lastNumber
        }

        mutating func anyKnot() -> (Int, Knot)? {
            guard let number = knots.keys.sorted().randomElement(using: &random),
                let object = realm.object(ofType: Knot.self, forPrimaryKey: number)
            else { return nil }
            return (number, object)
        }

        mutating func strand() -> (Int, Strand) {
            let number = number()
            let strand = Strand()
            strand.label = number
            strands[number] = number
            heldStrands.append((strand, number))
            return (number, strand)
        }

        mutating func operate() throws {
            operationCount += 1
            let kind = below(16)
            if kind < 4 || knots.isEmpty { return add(linkingTo: kind.isMultiple(of: 2) ? anyKnot() : nil) }
            guard let (number, knot) = anyKnot(), var plain = knots[number] else { return }
            switch kind {
            case 4:
                realm.delete(knot)
                return delete(number)
            case 5:
                plain.name = "\(below(5))"
                knot.name = plain.name
            case 6:
                plain.tags.append("\(below(9))")
                knot.tags.append(plain.tags.last!)
            case 7 where !plain.tags.isEmpty:
                let index = below(plain.tags.count)
                plain.tags.remove(at: index)
                knot.tags.remove(at: index)
            case 8:
                let mark = below(6)
                if plain.marks.insert(mark).inserted {
                    knot.marks.insert(mark)
                } else {
                    plain.marks.remove(mark)
                    knot.marks.remove(mark)
                }
            case 9:
                let name = "n\(below(4))"
                let value = plain.notes[name] == nil ? below(100) : nil
                plain.notes[name] = value
                knot.notes[name] = value
            case 10:
                let value = below(100)
                plain.any.append(value)
                knot.any.listValue?.append(.int(value))
            case 11:
                let (new, strand) = strand()
                if let old = plain.part { strands[old] = nil }
                plain.part = new
                knot.part = strand
            case 12:
                let (new, strand) = strand()
                plain.parts.append(new)
                knot.parts.append(strand)
            case 13 where !plain.parts.isEmpty:
                let index = below(plain.parts.count)
                strands[plain.parts.remove(at: index)] = nil
                knot.parts.remove(at: index)
            case 14:
                guard let (other, object) = anyKnot() else { return }
                plain.next = other
                plain.others.append(other)
                knot.next = object
                knot.others.append(object)
            case 15:
                // A key that exists: the error leaves everything as it was, what came with the object as well.
                let twin = Knot()
                twin.id = number
                twin.parts.append(Strand())
                #expect(throws: Realm.Error.self) { try realm.insert(twin) }
                #expect(throws: Realm.Error.self) {
                    try realm.insert(Knot.self, value: ["id": lastNumber + 1, "parts": [[:], ["label": "x"]]])
                }
                #expect(twin.realm == nil && !twin.isInvalidated)
            default: return
            }
            knots[number] = plain
            if kind == 10 { heldValues.append((knot.any.listValue!, number)) }
            if kind == 6 { heldTags.append((knot.tags, number)) }
            heldKnots.append((knot, number))
        }

        mutating func add(linkingTo other: (Int, Knot)?) {
            let number = number()
            var plain = Plain(name: "\(below(5))", tags: ["first"])
            let knot = Knot()
            knot.id = number
            knot.name = plain.name
            knot.tags.append("first")
            knot.any = .fromArray([])
            let (part, strand) = strand()
            plain.part = part
            knot.part = strand
            if let other {
                plain.next = other.0
                knot.next = other.1
            }
            realm.add(knot)
            knots[number] = plain
            heldKnots.append((knot, number))
            heldTags.append((knot.tags, number))
            references.append((ObjectReference(to: knot), number))
        }

        mutating func delete(_ number: Int) {
            guard let gone = knots.removeValue(forKey: number) else { return }
            for strand in gone.parts + (gone.part.map { [$0] } ?? []) { strands[strand] = nil }
            for key in knots.keys {
                if knots[key]?.next == number { knots[key]?.next = nil }
                knots[key]?.others.removeAll { $0 == number }
            }
        }

        /// The number of differences from the model.
        mutating func violations() -> Int {
            var count = realm.objects(Knot.self).count == knots.count ? 0 : 1
            for (object, number) in heldKnots {
                guard let plain = knots[number] else {
                    if !object.isInvalidated { count += 1 }
                    continue
                }
                if object.isInvalidated || !isSame(object, plain, number) { count += 1 }
            }
            for (object, number) in heldStrands where object.realm != nil {
                let isGone = strands[number] == nil
                if object.isInvalidated != isGone || !isGone && object.label != number { count += 1 }
            }
            for (list, number) in heldTags {
                let plain = knots[number]
                if list.isInvalidated != (plain == nil) || plain.map({ Array(list) != $0.tags }) ?? false { count += 1 }
            }
            for (list, number) in heldValues {
                let plain = knots[number]
                if list.isInvalidated != (plain == nil) || plain.map({ list.map(\.intValue) != $0.any }) ?? false {
                    count += 1
                }
            }
            for (reference, number) in references
            where (realm.resolve(reference)?.id == number) != (knots[number] != nil) {
                count += 1
            }
            for name in 0..<5 {
                let found = Set(realm.objects(Knot.self).filter("name == %@", "\(name)").map(\.id))
                if found != Set(knots.filter { $0.value.name == "\(name)" }.keys) { count += 1 }
            }
            return count
        }

        private func isSame(_ object: Knot, _ plain: Plain, _ number: Int) -> Bool {
            object.id == number && object.name == plain.name && Array(object.tags) == plain.tags
                && Set(object.marks) == plain.marks
                && Dictionary(object.notes.map { ($0.key, $0.value) }) { $1 } == plain.notes
                && object.any.listValue?.map(\.intValue) == plain.any && object.part?.label == plain.part
                && object.parts.map(\.label) == plain.parts && object.next?.id == plain.next
                && object.others.map(\.id) == plain.others
        }

        /// One transaction, which may be taken back.
        mutating func transact() throws {
            let before = (knots, strands)
            let end = below(3)
            do {
                realm.beginWrite()
                for _ in 0...below(8) { try operate() }
                if end == 0 { throw Refused() }
                try realm.commitWrite()
            } catch is Refused {
                realm.cancelWrite()
                (knots, strands) = before
            }
            // The last ones held are looked at, and some old ones.
            if heldKnots.count > 60 { heldKnots.remove(at: below(30)) }
            if heldStrands.count > 40 { heldStrands.removeFirst(heldStrands.count - 40) }
            if heldTags.count > 20 { heldTags.removeFirst(heldTags.count - 20) }
            if heldValues.count > 20 { heldValues.removeFirst(heldValues.count - 20) }
            if references.count > 20 { references.removeFirst(references.count - 20) }
            if heldKnots.count > 90 { heldKnots.removeFirst(30) }
        }
    }

    @Test("leave all that was held from before and from within as a plain model says")
    func agree() throws {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["ROLLBACK_CASES"].flatMap { Int($0) } ?? 2_000
        var seed = environment["ROLLBACK_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000)
        let first = seed
        var cases = 0
        while cases < wanted {
            var run = Run(realm: try memoryRealm([Knot.self, Strand.self]), random: SplitMix64(seed: seed))
            while run.operationCount < min(1_000, wanted) {
                try run.transact()
                let violations = run.violations()
                try #require(violations == 0, "seed \(seed), operation \(run.operationCount)")
            }
            cases += run.operationCount
            run.realm.close()
            seed += 1
        }
        CampaignRecord.add("rollbacks", seeds: first..<seed, cases: cases, violations: 0)
    }
}
