import Foundation
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
}
