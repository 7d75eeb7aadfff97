import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// A child that is forked while its parent has a realm open.
@Suite("Realms in forked children", .timeLimit(.minutes(60)))
struct ForkedRealmTests {
    let file = TestFile()

    private static func configuration(_ path: String) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Tally.self])
        configuration.durability = .unflushed
        return configuration
    }

    @Test("A child opens the file anew, and reads and writes beside its parent", .secondProcess)
    func openedAnew() async {
        // In a process of its own, so that the child copies few threads.
        await #expect(processExitsWith: .success) { [path = file.directory.path("forked.realm") as String] in
            let configuration = ForkedRealmTests.configuration(path)
            try withNewRealm(configuration) { realm in
                try realm.write { realm.add(Tally(name: "parent")) }
                let status = try ForkedChild.run {
                    alarm(1_800)
                    do {
                        return try withNewRealm(configuration) { own in
                            guard own !== realm, own.objects(Tally.self).map(\.name) == ["parent"] else { return 1 }
                            try own.write { own.add(Tally(name: "child")) }
                            return own.objects(Tally.self).count == 2 ? 0 : 2
                        }
                    } catch {
                        return 3
                    }
                }
                #expect(status == 0)
                realm.refresh()
                #expect(realm.objects(Tally.self).map(\.name) == ["parent", "child"])
                try realm.write { realm.add(Tally(name: "later")) }
                try realm.verify()
            }
        }
    }

    private static func add(_ name: String, to realm: Realm?) throws {
        guard let realm else { return }
        try realm.write { realm.add(Tally(name: name)) }
    }

    /// Lets go of a realm in memory in a child, and goes on with it.
    private static func letGoInChild() throws {
        let queue = DispatchQueue(label: "forked")
        try queue.sync {
            let configuration = Realm.Configuration(inMemoryIdentifier: "forked", objectTypes: [Tally.self])
            var realm: Realm? = try Realm(configuration: configuration, queue: queue)
            try add("parent", to: realm)
            let coordinator = realm.map { WeakReference($0.core.coordinator) }
            let status = try ForkedChild.run {
                alarm(1_800)
                realm = nil
                // Else nothing has ended there.
                return coordinator?.object == nil ? 0 : 1
            }
            #expect(status == 0)
            try add("later", to: realm)
            #expect(realm?.objects(Tally.self).map(\.name) == ["parent", "later"])
        }
    }

    @Test("A child that lets go of a realm in memory leaves it to its parent", .secondProcess)
    func inMemory() async {
        await #expect(processExitsWith: .success) { try ForkedRealmTests.letGoInChild() }
    }
}
