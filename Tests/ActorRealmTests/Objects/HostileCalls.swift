import ActorRealm
import Dispatch
import Foundation
import RealmTestSupport

/// Random calls of what throws and does not suspend, on realms and with values in every state.
struct HostileCalls {
    final class Crate: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var key: String
        @Persisted(unique: true) var label: String?
        @Persisted var number: Int
        @Persisted var small: Int8?
        @Persisted var mood: Mood
        @Persisted var names: List<String>
        @Persisted var tags: MutableSet<Int>
        @Persisted var sizes: Map<String, Int>
        @Persisted var next: Crate?
        @Persisted var inner: List<Crate>
        @Persisted var held: AnyRealmValue
    }

    final class Note: Object, Codable {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var text: String
        @Persisted var numbers: List<Int>
    }

    final class Bin: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var any: AnyRealmValue
        @Persisted var anys: List<AnyRealmValue>
        @Persisted var named: Map<String, AnyRealmValue>
        @Persisted var lid: Lid?
        @Persisted var crate: Crate?
        @Persisted var date: Date?
        @Persisted var price: Decimal128
        @Persisted var id: ObjectId?
        @Persisted var code: UUID?
        @Persisted var data: Data
        @Persisted(originProperty: "next") var none: LinkingObjects<Crate>
    }

    final class Lid: EmbeddedObject {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var color: String
    }

    final class Stray: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted var crate: Crate?
    }

    /// What is not let into a realm by its own classes.
    final class Opaque {}

    private struct Leak: @unchecked Sendable {
        let realm: Realm
        let crate: Crate
        let note: Note
        let results: Results<Crate>
    }

    static let types: [ObjectBase.Type] = [Crate.self, Note.self]
    private var random: SplitMix64
    private let file = TestFile()
    /// A realm in a state, with what was reached from it before.
    private struct State {
        let name: String
        let realm: Realm
        let crate: Crate
        let results: Results<Crate>
    }

    /// Realms by their state.
    private var realms: [State] = []
    private var notes: [Note] = []
    private var deleted: Crate!
    /// The first crate of each realm, by the name of its class.
    private var dynamics: [DynamicObject] = []
    private var predicate = try! RealmPredicate(parsing: "number > 0")
    private var reference: ThreadSafeReference<Realm>!
    private let decoder = JSONDecoder()

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        try open()
    }

    private func configuration(_ name: String) -> Realm.Configuration {
        Realm.Configuration(inMemoryIdentifier: "\(name)-\(UUID().uuidString)", objectTypes: Self.types)
    }

    private mutating func open() throws {
        func made(_ realm: Realm) throws -> Crate {
            try realm.write {
                let crate = realm.create(Crate.self, value: ["key": "a", "names": ["x"], "sizes": ["l": 1]])
                crate.next = realm.create(Crate.self, value: ["key": "b"])
                return crate
            }
        }
        func note(_ realm: Realm) throws -> Note { try realm.write { realm.create(Note.self, value: ["text": "n"]) } }
        for name in ["open", "writing", "closed", "invalidated"] {
            let realm = try Realm(configuration: configuration(name))
            let crate = try made(realm)
            let results = realm.objects(Crate.self)
            notes.append(try note(realm))
            dynamics.append(realm.dynamicObject(ofType: Crate.className(), forPrimaryKey: "a")!)
            if name == "open" {
                let gone = try note(realm)
                notes += [gone, try note(realm).freeze()]
                try realm.write { realm.delete(gone) }
                deleted = try realm.write { realm.create(Crate.self, value: ["key": "gone"]) }
                try realm.write { realm.delete(deleted) }
                realms.append(
                    State(name: "frozen", realm: realm.freeze(), crate: crate.freeze(), results: results.freeze())
                )
                reference = ThreadSafeReference(to: realm)
            }
            if name == "closed" { realm.close() }
            if name == "invalidated" { realm.invalidate() }
            if name == "writing" { realm.beginWrite() }
            realms.append(State(name: name, realm: realm, crate: crate, results: results))
        }
        var stored = file.fast
        stored.objectTypes = Self.types
        try withNewRealm(stored) { _ = try made($0) }
        stored.readOnly = true
        let readOnly = try Realm(configuration: stored)
        let read = readOnly.objects(Crate.self)
        realms.append(State(name: "readOnly", realm: readOnly, crate: read.first!, results: read))
        let elsewhere = configuration("elsewhere")
        let leak = try withNewRealm(elsewhere) {
            Leak(realm: $0, crate: try made($0), note: try note($0), results: $0.objects(Crate.self))
        }
        realms.append(State(name: "elsewhere", realm: leak.realm, crate: leak.crate, results: leak.results))
        notes.append(leak.note)
    }

    // MARK: Values

    private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    private mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }

    /// Names from outside, of properties or not.
    private static let names = [
        "key", "number", "mood", "names", "sizes", "inner", "next", "next.label", "next.next.names", "number.key",
        "inner.key", "any",
        "", ".", "next.", "@count", "self", "\0", "n\u{301}",
    ]

    private static let texts = [
        "", "a", "key", "\0", "$a", "a.b", "é", "e\u{301}", String(repeating: "k", count: 257), "nan", "-1e400", "%@",
        String(repeating: "x", count: 70_000), "number == 1", "\u{1F600}", "../../x", "{", "[1,", "NaN", "0x1p3",
    ]

    private mutating func text() -> String { pick(Self.texts) }

    private static func nested(_ depth: Int) -> Any {
        var value: Any = []
        for level in 0..<depth { value = level.isMultiple(of: 2) ? [value] : ["a": value] }
        return value
    }

    /// An object in any state.
    private mutating func object() -> Object {
        switch below(6) {
        case 0: return Crate()
        case 1: return deleted
        case 2: return Stray()
        case 3:
            let crate = Crate()
            crate.key = text()
            crate.label = text()
            crate.next = pick(realms).crate
            return crate
        default: return pick(realms).crate
        }
    }

    private mutating func anything(_ depth: Int = 0) -> Any {
        switch below(depth > 3 ? 16 : 24) {
        case 0: return Int.min
        case 1: return Double.nan
        case 2: return -Double.infinity
        case 3, 4: return text()
        case 5: return Data([1, 2, 3])
        case 6: return Date(timeIntervalSinceReferenceDate: pick([.nan, .infinity, 0, -1e300]))
        case 7: return UUID()
        case 8: return ObjectId.generate()
        case 9: return Decimal128(floatLiteral: .nan)
        case 10: return NSNull()
        case 11: return Opaque()
        case 12: return Any?.none as Any
        case 13: return object()
        case 14: return UInt64.max
        case 15: return Mood.calm
        case 16: return Self.nested(pick([1, 50, 100, 101, 5_000]))
        case 17: return (0..<below(5)).map { _ in anything(depth + 1) }
        case 18: return [1: 2]
        case 19: return AnyRealmValue.string(text())
        case 20: return pick(realms).crate
        case 21: return Set([1, 2])
        default: return dictionary(depth + 1)
        }
    }

    private mutating func dictionary(_ depth: Int = 0) -> [String: Any] {
        var values: [String: Any] = [:]
        let names = ["key", "label", "number", "small", "mood", "names", "tags", "sizes", "next", "inner"]
        for _ in 0..<below(6) { values[below(5) == 0 ? text() : pick(names)] = anything(depth + 1) }
        return values
    }

    private mutating func json() -> Data {
        if below(3) == 0 { return Data(text().utf8) }
        let values = dictionary().filter { JSONSerialization.isValidJSONObject([$0.value]) }
        return (try? JSONSerialization.data(withJSONObject: values)) ?? Data([0xFF, 0xFE])
    }

    private mutating func url() -> URL {
        switch below(7) {
        case 0: return URL(fileURLWithPath: "/")
        case 1: return URL(fileURLWithPath: "/proc/self/mem")
        case 2: return URL(string: "http://localhost/a.realm")!
        case 3: return URL(fileURLWithPath: file.directory.path("no/such/folder.realm"))
        case 4: return URL(fileURLWithPath: file.directory.path("a\0b.realm"))
        case 5: return URL(fileURLWithPath: file.directory.path(String(repeating: "n", count: 5_000)))
        default:
            let url = URL(fileURLWithPath: file.directory.path("garbage-\(below(5)).realm"))
            try? Data((0..<below(9_000)).map { _ in UInt8(truncatingIfNeeded: below(256)) }).write(to: url)
            return url
        }
    }

    private mutating func anyConfiguration() -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: below(5) == 0 ? nil : url())
        if below(5) == 0 { configuration.inMemoryIdentifier = text() }
        if below(4) == 0 { configuration.encryptionKey = Data(count: pick([0, 63, 64, 65])) }
        configuration.readOnly = below(3) == 0
        configuration.schemaVersion = pick([0, 1, UInt64.max])
        configuration.deleteRealmIfMigrationNeeded = below(4) == 0
        configuration.objectTypes = pick([
            Self.types, [], [Crate.self, Crate.self], [Bin.self], [Stray.self, Crate.self],
        ])
        if below(5) == 0 { configuration.seedFilePath = url() }
        configuration.maximumNumberOfActiveVersions = pick([nil, 0, UInt.max])
        configuration.writeTimeout = pick([nil, .zero, .seconds(Int64.max) * 9, .seconds(-1)])
        return configuration
    }

    private func anyDecoder(_ data: Data) throws -> any Decoder {
        struct Holder: Decodable {
            let decoder: any Decoder
            init(from decoder: any Decoder) { self.decoder = decoder }
        }
        return try decoder.decode(Holder.self, from: data).decoder
    }

    // MARK: Calls

    private typealias Call = (name: String, body: @Sendable (inout HostileCalls, Realm, Crate) throws -> Void)

    /// Whether a realm may be used by whoever makes the calls.
    private static func isHere(_ realm: Realm) -> Bool {
        realm.configuration.inMemoryIdentifier?.hasPrefix("elsewhere") != true
    }

    /// Runs a body as if in a transaction, where the realm has one open or can open one.
    private static func writing(_ realm: Realm, _ body: () throws -> Void) throws {
        if !isHere(realm) || realm.isInWriteTransaction { return try body() }
        try realm.write { try body() }
    }

    private static let calls: [Call] = [
        ("write", { _, realm, _ in try realm.write {} }),
        (
            "write with a timeout",
            { calls, realm, _ in
                try realm.write(timeout: calls.pick([.zero, .seconds(Int64.max) * 9, .seconds(-9)])) {}
            }
        ),
        (
            "write with options",
            { calls, realm, _ in try realm.write(.init(timeout: .seconds(1))) { _ = calls.text() } }
        ),
        (
            "beginWriteTransaction",
            { _, realm, _ in
                try realm.beginWriteTransaction()
                realm.cancelWrite()
            }
        ),
        (
            "commitWrite",
            { calls, realm, _ in
                let wasWriting = isHere(realm) && realm.isInWriteTransaction
                let token = calls.pick(calls.realms).name == "open" ? [NotificationToken()] : []
                try realm.commitWrite(withoutNotifying: token)
                if wasWriting { realm.beginWrite() }
            }
        ),
        (
            "insert an object",
            { calls, realm, _ in
                let object = calls.object()
                try writing(realm) { try realm.insert(object) }
            }
        ),
        ("insert outside a transaction", { calls, realm, _ in try realm.insert(calls.object()) }),
        (
            "insert values",
            { calls, realm, _ in
                let value = calls.below(4) == 0 ? calls.anything() : calls.dictionary()
                try writing(realm) {
                    try realm.insert(Crate.self, value: value, ignoringUnknownKeys: calls.below(2) == 0)
                }
            }
        ),
        (
            "insert of another class",
            { calls, realm, _ in
                let value = calls.anything()
                try writing(realm) { try realm.insert(Bin.self, value: value) }
            }
        ),
        (
            "insert by the name of a class",
            { calls, realm, _ in
                let name = calls.pick(["Crate", "Bin", "Lid", "Stranger", "", calls.text()])
                let value = calls.below(4) == 0 ? calls.anything() : calls.dictionary()
                try writing(realm) {
                    try realm.dynamicInsert(name, value: value, ignoringUnknownKeys: calls.below(2) == 0)
                }
            }
        ),
        (
            "set values",
            { calls, realm, crate in
                let values = calls.dictionary()
                let objects: [Crate] = [crate, calls.deleted, Crate()]
                let object = calls.pick(objects)
                try writing(realm) {
                    try object.setValues(values, ignoringUnknownKeys: calls.below(2) == 0)
                }
            }
        ),
        (
            "hold an object in a value",
            { calls, realm, crate in
                let held: Object = calls.below(2) == 0 ? calls.pick(calls.dynamics) : calls.object()
                let dynamic = calls.pick(calls.dynamics)
                let new = Crate()
                new.key = "new \(calls.below(1_000))"
                new.held = .object(held)
                try writing(realm) {
                    switch calls.below(4) {
                    case 0: try realm.insert(new)
                    case 1:
                        let values: [String: Any] = ["key": new.key, "held": held]
                        try realm.dynamicInsert(Crate.className(), value: values)
                    case 2: try dynamic.setValues(["held": held])
                    default: try crate.setValues(["held": held])
                    }
                }
            }
        ),
        (
            "remove",
            { calls, realm, crate in
                let objects: [Crate] = [crate, calls.deleted, Crate()]
                let object = calls.pick(objects)
                try writing(realm) {
                    switch calls.below(3) {
                    case 0: try realm.remove(object)
                    case 1: try realm.remove([object, crate])
                    default: try realm.remove([calls.deleted, object])
                    }
                }
            }
        ),
        (
            "insert JSON",
            { calls, realm, _ in
                let data = calls.json()
                try writing(realm) { try realm.insert(Crate.self, json: data) }
            }
        ),
        (
            "insert from a decoder",
            { calls, realm, _ in
                let decoder = try calls.anyDecoder(calls.json())
                try writing(realm) { try realm.insert(Crate.self, from: decoder, ignoringUnknownKeys: true) }
            }
        ),
        ("filter", { calls, _, _ in _ = try calls.pick(calls.realms).results.filter(calls.predicate) }),
        (
            "filter of results",
            { calls, realm, crate in
                guard isHere(realm) else { return }
                let results = realm.objects(Crate.self)
                _ = try results.filter(calls.predicate).count
            }
        ),
        ("filter of an unmanaged list", { calls, _, _ in _ = try List<Crate>().filter(calls.predicate) }),
        (
            "parse a predicate",
            { calls, _, _ in _ = try RealmPredicate(parsing: calls.text(), calls.anything(), calls.anything()) }
        ),
        (
            "parse and filter",
            { calls, realm, crate in
                let format = calls.pick([
                    "next == %@", "number > %@", "label IN %@", "ANY inner == %@", "names CONTAINS %@", "%K == 1",
                ])
                let predicate = try RealmPredicate(parsing: format, calls.anything())
                guard isHere(realm) else { return }
                _ = try realm.objects(Crate.self).filter(predicate).count
            }
        ),
        ("requireReadable()", { calls, _, _ in try calls.pick(calls.realms).results.requireReadable() }),
        (
            "requireReadable(_:_:)",
            { calls, _, _ in try calls.pick(calls.realms).results.requireReadable(\.number, \.next?.mood) }
        ),
        ("requireReadable() of a list", { _, _, crate in try crate.value(of: \.names).requireReadable() }),
        ("requireReadable() of a map", { _, _, crate in try crate.value(of: \.sizes).requireReadable() }),
        (
            "requireReadable(properties:)",
            { calls, _, _ in
                try calls.pick(calls.realms).results.requireReadable(properties: [calls.pick(Self.names)])
            }
        ),
        (
            "requireReadable(properties:) of a map",
            { calls, _, crate in try crate.value(of: \.sizes).requireReadable(properties: [calls.pick(Self.names)]) }
        ), ("value(named:)", { calls, _, crate in _ = try crate.value(named: calls.pick(Self.names)) }),
        (
            "value(named:) of what is gone",
            { calls, _, _ in _ = try calls.deleted.value(named: calls.pick(Self.names)) }
        ),
        ("value(of:)", { _, _, crate in _ = try crate.value(of: \.key) }),
        ("value(of:) of an enum", { _, _, crate in _ = try crate.value(of: \.mood) }),
        ("value(of:) through a link", { _, _, crate in _ = try crate.value(of: \.next?.label) }),
        ("value(of:) of a list", { _, _, crate in _ = try crate.value(of: \.names) }),
        ("value(of:) of what is gone", { calls, _, _ in _ = try calls.deleted.value(of: \.number) }),
        ("verify", { _, realm, _ in try realm.verify() }),
        (
            "writeCopy",
            { calls, realm, _ in
                try realm.writeCopy(toFile: calls.url(), encryptionKey: calls.pick([nil, Data(count: 3)]))
            }
        ),
        (
            "writeCopy to a configuration",
            { calls, realm, _ in try realm.writeCopy(configuration: calls.anyConfiguration()) }
        ),
        ("cancelAsyncWrite", { calls, realm, _ in try realm.cancelAsyncWrite(UInt32(calls.below(3))) }),
        ("resolve", { calls, _, _ in _ = try calls.reference.resolve() }),
        ("Decimal128(parsing:)", { calls, _, _ in _ = try Decimal128(parsing: calls.text()) }),
        ("ObjectId(string:)", { calls, _, _ in _ = try ObjectId(string: calls.text()) }),
        (
            "decode",
            { calls, _, _ in
                let data = calls.json()
                _ = try? calls.decoder.decode(List<Int>.self, from: data)
                _ = try? calls.decoder.decode(Map<String, Int>.self, from: data)
                _ = try? calls.decoder.decode(MutableSet<String>.self, from: data)
                _ = try? calls.decoder.decode([ObjectId].self, from: data)
                _ = try? calls.decoder.decode([Decimal128].self, from: data)
                _ = try calls.decoder.decode(Note.self, from: data)
            }
        ),
        ("encode", { calls, _, _ in try calls.pick(calls.notes).encode(to: Sink()) }),
        (
            "encode collections",
            { calls, realm, crate in
                if isHere(realm), !crate.isInvalidated { try crate.names.encode(to: Sink()) }
            }
        ),
        ("open", { calls, _, _ in _ = try Realm(configuration: calls.anyConfiguration()) }),
        ("open a file", { calls, _, _ in _ = try Realm(fileURL: calls.url()) }),
        (
            "open on a queue",
            { calls, _, _ in
                let queue = DispatchQueue(label: "hostile", attributes: calls.below(2) == 0 ? .concurrent : [])
                _ = try Realm(configuration: calls.anyConfiguration(), queue: queue)
            }
        ),
        (
            "open for a scheduler",
            { calls, _, _ in
                let loop = HostileLoop(isCurrent: calls.below(2) == 0)
                _ = try Realm(configuration: calls.anyConfiguration(), scheduler: loop)
            }
        ),
        ("deleteFiles", { calls, _, _ in try Realm.deleteFiles(for: calls.anyConfiguration()) }),
        ("performMigration", { calls, _, _ in try Realm.performMigration(for: calls.anyConfiguration()) }),
        ("compact", { calls, _, _ in try Realm.compact(calls.anyConfiguration()) }),
        (
            "schemaVersionAtURL",
            { calls, _, _ in _ = try schemaVersionAtURL(calls.url(), encryptionKey: calls.pick([nil, Data(count: 64)]))
            }
        ),
        ("salvage", { calls, _, _ in _ = try Realm.salvage(from: calls.url(), to: calls.url()) }),
    ]

    /// Takes what is encoded and lets it go.
    private struct Sink: Encoder {
        let codingPath: [any CodingKey] = []
        let userInfo: [CodingUserInfoKey: Any] = [:]
        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
            KeyedEncodingContainer(Keyed())
        }
        func unkeyedContainer() -> any UnkeyedEncodingContainer { Plain() }
        func singleValueContainer() -> any SingleValueEncodingContainer { Plain() }

        private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
            let codingPath: [any CodingKey] = []
            func encodeNil(forKey key: Key) {}
            func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try value.encode(to: Sink()) }
            func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
                -> KeyedEncodingContainer<Nested>
            {
                KeyedEncodingContainer(Keyed<Nested>())
            }
            func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { Plain() }
            func superEncoder() -> any Encoder { Sink() }
            func superEncoder(forKey key: Key) -> any Encoder { Sink() }
        }

        private struct Plain: UnkeyedEncodingContainer, SingleValueEncodingContainer {
            let codingPath: [any CodingKey] = []
            let count = 0
            func encodeNil() {}
            func encode<Value: Encodable>(_ value: Value) throws {
                if value is String || value is any BinaryInteger || value is any BinaryFloatingPoint || value is Bool {
                    return
                }
                try value.encode(to: Sink())
            }
            func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
                KeyedEncodingContainer(Keyed<Nested>())
            }
            func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { Plain() }
            func superEncoder() -> any Encoder { Sink() }
        }
    }

    /// What a caller may get.
    static func isPublic(_ error: any Error) -> Bool {
        error is Realm.Error || error is DecodingError || error is EncodingError || error is ObjectIdError
            || error is CancellationError
    }

    struct Leaked: Error {
        let call: String
        let error: String
    }

    mutating func run(_ count: Int) throws {
        for number in 0..<count {
            let call = number < Self.calls.count * realms.count ? Self.calls[number / realms.count] : pick(Self.calls)
            let state = number < Self.calls.count * realms.count ? realms[number % realms.count] : pick(realms)
            FileHandle.standardError.write(Data("\(call.name), \(state.name)\n".utf8))
            do {
                try call.body(&self, state.realm, state.crate)
            } catch {
                guard Self.isPublic(error) else { throw Leaked(call: "\(call.name), \(state.name)", error: "\(error)") }
            }
        }
    }
}

/// A scheduler that runs nothing, and says whether the caller runs on it.
private final class HostileLoop: RealmScheduler {
    let isOnThread: Bool

    init(isCurrent: Bool) { isOnThread = isCurrent }

    func invoke(_ work: @escaping @Sendable () -> Void) {}
}
