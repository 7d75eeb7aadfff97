import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// What another program has stored and a narrower type does not hold, on ways on which this program asks for nothing.
@Suite("Values that do not fit end no process where something throws or tells", .timeLimit(.minutes(60)))
struct MisfitTests {
    enum Step: Int8, PersistableEnum {
        case one = 1
        case two
    }

    class Wide: Object {
        @Persisted var small: Int
        @Persisted var step: Int
        @Persisted var list: List<Int>
        @Persisted var set: MutableSet<Int>
        @Persisted var map: Map<String, Int>
        override class func _realmObjectName() -> String? { "Meter" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Narrow: Object {
        @Persisted var small: Int8
        @Persisted var step: Step
        @Persisted var list: List<Int16>
        @Persisted var set: MutableSet<Int16>
        @Persisted var map: Map<String, Int8>
        override class func _realmObjectName() -> String? { "Meter" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    final class NarrowProjection: Projection<Narrow> {
        @Projected(\Narrow.small) var small: Int8
    }

    class Holder: Object {
        @Persisted var any: AnyRealmValue
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    static func configuration(_ directory: TemporaryDirectory, _ type: Object.Type) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: directory.path("meter.realm")))
        configuration.objectTypes = [type]
        return configuration
    }

    /// The object as the program with narrow types sees it.
    static func narrow(_ value: [String: Any], in directory: TemporaryDirectory) throws -> Narrow {
        let writing = try Realm(configuration: configuration(directory, Wide.self))
        try writing.write { _ = writing.create(Wide.self, value: ["step": 1].merging(value) { $1 }) }
        writing.close()
        return try Realm(configuration: configuration(directory, Narrow.self)).objects(Narrow.self)[0]
    }

    enum Way: String, CaseIterable, Codable, Sendable {
        case copiedList, copiedSet, copiedMap, givenList, givenSet, givenMap, givenResults, givenAny

        var stored: [String: Any] {
            switch self {
            case .copiedList, .givenList, .givenResults, .givenAny: ["list": [1, 70_000]]
            case .copiedSet, .givenSet: ["set": [1, 70_000]]
            case .copiedMap, .givenMap: ["map": ["a": 300]]
            }
        }

        func insert() throws {
            let directory = TemporaryDirectory()
            defer { withExtendedLifetime(directory) {} }
            let narrow = try MisfitTests.narrow(stored, in: directory)
            let other = try memoryRealm([Narrow.self, Holder.self])
            let error = #expect(throws: Realm.Error.self) {
                try other.write {
                    switch self {
                    case .copiedList, .copiedSet, .copiedMap: try other.insert(Narrow.self, value: narrow)
                    case .givenList: try other.insert(Narrow.self, value: ["step": 1, "list": narrow.list])
                    case .givenSet: try other.insert(Narrow.self, value: ["step": 1, "set": narrow.set])
                    case .givenMap: try other.insert(Narrow.self, value: ["step": 1, "map": narrow.map])
                    case .givenResults:
                        try other.insert(Narrow.self, value: ["step": 1, "list": narrow.list.sorted(ascending: true)])
                    case .givenAny: try other.insert(Holder.self, value: ["any": narrow.list])
                    }
                }
            }
            #expect(error?.code == .invalidInput)
        }
    }

    @Test("insert(_:value:) throws for collections of another realm whose elements do not fit", arguments: Way.allCases)
    func inserting(way: Way) async {
        await #expect(processExitsWith: .success) { [way = way as Way] in try way.insert() }
    }

    enum Teller: String, CaseIterable, Codable, Sendable {
        case object, sequence, projection

        /// Observes, and has the other program write what does not fit.
        func observe(_ property: String, _ value: Int) async throws {
            let directory = TemporaryDirectory()
            let configuration = MisfitTests.configuration(directory, Narrow.self)
            let told = Journal<String>()
            let queue = DispatchQueue(label: "narrow")
            nonisolated(unsafe) var token: NotificationToken?
            nonisolated(unsafe) var task: Task<Void, Never>?
            nonisolated(unsafe) var realm: Realm!
            try queue.sync {
                realm = try Realm(configuration: configuration, queue: queue)
                try realm.write { _ = realm.create(Narrow.self, value: ["small": 1, "step": 1]) }
                let narrow = realm.objects(Narrow.self)[0]
                switch self {
                case .object:
                    token = narrow.observe { (change: ObjectChange<Narrow>) in
                        if case .change(_, let properties) = change { told.add(properties.map(\.name).joined()) }
                    }
                case .sequence:
                    let changes = narrow.changes()
                    nonisolated(unsafe) let iterator = changes.makeAsyncIterator()
                    task = Task.detached {
                        var iterator = iterator
                        if case .change(_, let properties)? = await iterator.next() {
                            told.add(properties.map(\.name).joined())
                        }
                    }
                case .projection:
                    token = NarrowProjection(projecting: narrow)
                        .observe { (change: ObjectChange<NarrowProjection>) in
                            if case .change(_, let properties) = change { told.add(properties.map(\.name).joined()) }
                        }
                }
            }
            try withNewRealm(MisfitTests.configuration(directory, Wide.self)) { other in
                try other.write { other.objects(Wide.self)[0][property] = value }
            }
            #expect(await told.wait(for: 1).first == property)
            queue.sync {
                token?.invalidate()
                token = nil
                realm = nil
            }
            await task?.value
        }
    }

    @Test("An observer is told of a number that another program wrote, and lives on", arguments: Teller.allCases)
    func telling(teller: Teller) async {
        await #expect(processExitsWith: .success) { [teller = teller as Teller] in
            try await teller.observe("small", 300)
        }
    }

    @Test("So is one of a case of an enum that this program does not have", arguments: [Teller.object, .sequence])
    func tellingOfCases(teller: Teller) async {
        await #expect(processExitsWith: .success) { [teller = teller as Teller] in
            try await teller.observe("step", 7)
        }
    }
}
