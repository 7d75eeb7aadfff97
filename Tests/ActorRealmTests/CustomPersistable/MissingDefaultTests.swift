import ActorRealm
import Foundation
import Testing

/// Only odd numbers, which can be coded.
private struct CodedOdd: FailableCustomPersistable, Codable {
    typealias PersistedType = Int
    let number: Int
    init?(persistedValue: Int) {
        guard !persistedValue.isMultiple(of: 2) else { return nil }
        number = persistedValue
    }
    var persistableValue: Int { number }
}

private final class CodedOddOnly: Object, Encodable {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var number: CodedOdd
}

private final class OddKeyed: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted(primaryKey: true) var number: Odd
}

private final class OddOwner: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var owned: OddOnly?
}

private final class KeyedOwner: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var keyed: OddKeyed?
    @Persisted var others: List<OddOnly>
}

private final class OddList: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var odds: List<Odd>
}

private final class OddView: Projection<OddOnly> {
    @Projected(\OddOnly.number) var number: Odd
}

private final class NotedView: Projection<NotedOwner> {
    @Projected(\NotedOwner.noted) var noted: Noted
}

private final class NotedValue: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var value: AnyRealmValue
    @Persisted var noted: Noted
}

private final class Buoy: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var level = SeaState(1)
    @Persisted var count: Int
}

private final class NotedBuoy: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var noted = Noted(note: "declared")
}

private func refusal(_ body: () throws -> Void) -> Realm.Error? {
    do { try body() } catch { return error as? Realm.Error }
    return nil
}

/// Where the default of what is stored is no value of the type, a property without a value has none.
@Suite("A type of the program's own that has no value for its stored type's default", .timeLimit(.minutes(60)))
struct MissingDefaultTests {
    @Test("Input that leaves its property out is refused with class and property, and leaves nothing behind")
    func leftOut() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([
                OddOnly.self, OddKeyed.self, OddOwner.self, NotedOwner.self, NotedValue.self, BadgeRow.self,
            ])
            let unmanaged = OddOnly()
            try realm.write {
                let errors = [
                    refusal { try realm.insert(OddOnly.self, json: Data("{}".utf8)) },
                    refusal { try realm.insert(OddOnly.self, value: [String: Any]()) },
                    refusal { try realm.dynamicInsert("OddOnly") },
                    refusal { try realm.insert(OddOwner.self, value: ["owned": [String: Any]()]) },
                    refusal { try realm.insert(unmanaged) },
                    refusal { try realm.insert(OddOnly.self, value: unmanaged) },
                ]
                for error in errors {
                    #expect(error?.code == .invalidInput && error?.message.contains("'OddOnly.number'") == true)
                }
                let details = errors[0]?.details
                #expect(details?.className == "OddOnly" && details?.propertyName == "number")
                let others = [
                    refusal { try realm.insert(OddKeyed.self, value: [String: Any]()) },
                    refusal { try realm.insert(OddKeyed()) },
                    refusal { try realm.insert(NotedOwner.self, value: [String: Any]()) },
                    refusal { try realm.insert(NotedOwner()) },
                    refusal { try realm.insert(NotedValue()) },
                ]
                for error in others { #expect(error?.code == .invalidInput) }
                #expect(unmanaged.realm == nil)
            }
            #expect(realm.isEmpty)
            let (odd, keyed) = try realm.write {
                let odd = try realm.insert(OddOnly.self, value: ["number": 3])
                return (odd, try realm.insert(OddKeyed.self, value: ["number": 5]))
            }
            #expect(odd.number.number == 3 && keyed.number.number == 5)
            try realm.verify()
        }
    }

    @Test("Its property is read through its key path, with and without a default of the declaration")
    func keyPaths() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([OddOnly.self, Buoy.self])
            let (odd, buoy) = try realm.write {
                let odd = try realm.insert(OddOnly.self, value: ["number": 3])
                return (odd, try realm.insert(Buoy.self, value: ["level": 2]))
            }
            let odds = realm.objects(OddOnly.self)
            let number = try odd.value(of: \.number).number
            #expect(number == 3)
            try odds.requireReadable(\.number)
            try odds.filter("number == 7").requireReadable(\.number)
            // Of a type with a default of the declaration what does not throw finds the name, too.
            let level = try buoy.value(of: \.level)
            #expect(level == SeaState(2))
            let buoys = realm.objects(Buoy.self)
            try buoys.requireReadable(\.level, \.count)
            #expect(buoys.where { $0.level == SeaState(2) }.count == 1)
            try realm.write {
                let dynamic = realm.dynamicObjects("OddOnly")[0]
                dynamic["number"] = 2
            }
            let codes = [
                refusal { _ = try odd.value(of: \.number) }?.code, refusal { try odds.requireReadable(\.number) }?.code,
            ]
            #expect(codes == [.invalidInput, .invalidInput])
            try realm.write { realm.delete(odd) }
            let gone = refusal { _ = try odd.value(of: \.number) }
            #expect(gone?.code == .invalidatedObject)
        }
    }

    @Test("An unmanaged object without a value for it is read and encoded by what throws")
    func unmanaged() async {
        await #expect(processExitsWith: .success) {
            let odd = OddOnly()
            let noted = NotedOwner()
            let errors = [
                refusal { _ = try odd.value(of: \.number) }, refusal { _ = try odd.value(named: "number") },
                refusal { _ = try noted.value(of: \.noted) }, refusal { _ = try noted.value(named: "noted") },
            ]
            for error in errors { #expect(error?.code == .invalidInput) }
            #expect(errors[0]?.message.contains("'OddOnly.number'") == true)
            #expect(odd.description.contains("unreadable"))
            var encodingError: (any Error)?
            do { _ = try JSONEncoder().encode(CodedOddOnly()) } catch { encodingError = error }
            #expect(encodingError is EncodingError)
            odd.number = Odd(persistedValue: 9)!
            let number = try odd.value(of: \.number).number
            #expect(number == 9)
        }
    }

    @Test("It is read across a link, through its value, by its name, and at a position")
    func keyPathsAcross() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([OddOnly.self, OddOwner.self, OddList.self])
            let (owner, list) = try realm.write {
                let list = try realm.insert(OddList.self, value: ["odds": [3]])
                return (try realm.insert(OddOwner.self, value: ["owned": ["number": 3]]), list)
            }
            let across = try owner.value(of: \.owned?.number)
            #expect(across?.number == 3)
            let odd = try realm.objects(OddOnly.self).first!.value(of: \.number.number)
            #expect(odd == 3)
            try realm.objects(OddOwner.self).requireReadable(\.owned?.number)
            try realm.objects(OddOnly.self).requireReadable(\.["number"])
            let positions = refusal { _ = try list.value(of: \.odds[0].number) }
            #expect(positions?.code == .invalidInput)
            try realm.write { owner.owned = nil }
            let none = try owner.value(of: \.owned?.number)
            #expect(none == nil)
        }
    }

    @Test("What does not throw takes key paths to it, too, where a value is declared, or found by trying")
    func namesOfKeyPaths() async {
        await #expect(processExitsWith: .success) {
            #expect(_name(for: \NotedBuoy.noted) == "noted")
            #expect(_name(for: \OddOwner.owned?.number.number) == "owned.number")
        }
    }

    @Test("A projection of it is read by what throws, and described")
    func projected() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([OddOnly.self, NotedOwner.self, BadgeRow.self])
            let (odd, owner) = try realm.write {
                let owner = NotedOwner()
                owner.noted = Noted(note: "a")
                realm.add(owner)
                return (try realm.insert(OddOnly.self, value: ["number": 3]), owner)
            }
            let view = OddView(projecting: odd)
            #expect(view.number.number == 3)
            try view.requireReadable()
            #expect(view.description.contains("number"))
            let noted = NotedView(projecting: owner)
            try noted.requireReadable()
            #expect(noted.description.contains("noted"))
        }
    }

    @Test("setValues that leaves it out of a linked object changes nothing, and the transaction goes on")
    func leftOutInside() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([OddOnly.self, OddOwner.self, OddKeyed.self, KeyedOwner.self])
            let (owner, keyed) = try realm.write { (realm.create(OddOwner.self), realm.create(KeyedOwner.self)) }
            try realm.write {
                realm.create(OddOwner.self)
                // What the object has need not be given again.
                try realm.insert(OddOnly.self, value: ["number": 3]).setValues([:])
                let errors = [
                    refusal { try owner.setValues(["owned": [String: Any]()]) },
                    refusal { try keyed.setValues(["keyed": [String: Any]()]) },
                    refusal { try keyed.setValues(["others": [["number": 3], [String: Any]()]]) },
                ]
                for error in errors { #expect(error?.code == .invalidInput) }
                #expect(errors[0]?.message.contains("owned") == true)
                #expect(errors[2]?.message.contains("others[1]") == true)
            }
            #expect(realm.objects(OddOwner.self).count == 2 && keyed.others.isEmpty)
        }
    }

    @Test("Input that leaves it out is refused with everything else that does not fit")
    func leftOutBesideOthers() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([OddOnly.self, OddOwner.self, OddKeyed.self, KeyedOwner.self])
            let others: [Any] = [[String: Any](), "nothing"]
            let values: [String: Any] = ["keyed": [String: Any](), "others": others]
            let error = try realm.write { refusal { try realm.insert(KeyedOwner.self, value: values) } }
            let message = error?.message ?? ""
            #expect(message.contains("keyed") && message.contains("others[0]") && message.contains("others[1]"))
            #expect(realm.isEmpty)
        }
    }
}

/// Three capitals: nothing that is tried is one.
private struct Currency: FailableCustomPersistable {
    typealias PersistedType = String
    let code: String

    init?(persistedValue: String) {
        guard persistedValue.count == 3, persistedValue.allSatisfy({ ("A"..."Z").contains($0) }) else { return nil }
        code = persistedValue
    }

    var persistableValue: String { code }
}

/// As above, of which no test has a value.
private struct Country: FailableCustomPersistable {
    typealias PersistedType = String
    let code: String

    init?(persistedValue: String) {
        guard persistedValue.count == 2, persistedValue.allSatisfy({ ("A"..."Z").contains($0) }) else { return nil }
        code = persistedValue
    }

    var persistableValue: String { code }
}

private final class KioskPrice: Object {
    override class func _realmObjectName() -> String? { "MissingPrice" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var amount: Int
    @Persisted var currency: Currency
}

private final class Kiosk: Object {
    override class func _realmObjectName() -> String? { "MissingKiosk" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var name: String
    @Persisted var accepted: List<Currency>
    @Persisted var byCountry: Map<String, Currency>
    @Persisted var fee: KioskPrice?
    @Persisted var prices: List<KioskPrice>
}

private final class Outpost: Object {
    override class func _realmObjectName() -> String? { "MissingOutpost" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    @Persisted var name: String
    @Persisted var country: Country
    @Persisted var value: AnyRealmValue
}

extension MissingDefaultTests {
    @Test("Of a type of which nobody knows a value it is read by a key path to it, and so are all other properties")
    func unknownType() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([Kiosk.self, KioskPrice.self])
            try realm.objects(KioskPrice.self).requireReadable(\.currency)
            let kiosk = try realm.write { realm.create(Kiosk.self, value: ["name": "a"] as [String: Any]) }
            let none = try [
                kiosk.value(of: \.accepted.first), kiosk.value(of: \.accepted.last), kiosk.value(of: \.byCountry["de"]),
            ]
            #expect(none.allSatisfy { $0 == nil })
            try realm.write {
                kiosk.accepted.append(objectsIn: [Currency(persistedValue: "EUR")!, Currency(persistedValue: "SEK")!])
                kiosk.byCountry["de"] = Currency(persistedValue: "EUR")
                kiosk.fee = try realm.insert(KioskPrice.self, value: ["amount": 3, "currency": "CHF"])
            }
            #expect(try kiosk.value(of: \.accepted.last)?.code == "SEK")
            #expect(try kiosk.value(of: \.fee?.amount) == 3)
            let fee = try #require(kiosk.fee)
            #expect(try fee.value(of: \.currency).code == "CHF")
            try realm.write {
                realm.dynamicObjects("MissingKiosk")[0]["byCountry"] = ["de": "zz"]
                realm.dynamicObjects("MissingPrice")[0]["currency"] = "zz"
            }
            #expect(refusal { _ = try kiosk.value(of: \.byCountry["de"]) }?.code == .invalidInput)
            #expect(refusal { _ = try fee.value(of: \.currency) }?.code == .invalidInput)
            #expect(try fee.value(of: \.amount) == 3)
            #expect(try kiosk.value(of: \.accepted.first)?.code == "EUR")
        }
    }

    @Test("A key path through a type of which nobody knows a value ends the process, and the message says what to do")
    func throughUnknownType() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm([KioskPrice.self])
            let price = try realm.write { try realm.insert(KioskPrice.self, value: ["currency": "CHF"]) }
            _ = try price.value(of: \.currency.code)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            message.contains("nobody knows another one. Declare a default of the property, or read it by its name.")
        )
    }

    @Test("Nor is it left out of an object in a value of any kind")
    func leftOutInAny() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([OddOnly.self, Outpost.self])
            let branch = try realm.write { try realm.insert(Outpost.self, value: ["country": "SE"]) }
            try realm.write {
                try realm.insert(Outpost.self, value: ["country": "FI"])
                #expect(refusal { try branch.setValues(["value": OddOnly()]) }?.code == .invalidInput)
            }
            #expect(realm.objects(Outpost.self).count == 2)
        }
    }
}
