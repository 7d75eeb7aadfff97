import Foundation
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// A realm file of one test, which looks who has it open.
struct RealmFileInUse {
    private let file = TestFile()

    /// A configuration of the file.
    var configuration: Realm.Configuration { file.configuration }

    var path: String { file.directory.path("test.realm") }

    /// The descriptors of this process that lead to the file.
    private var descriptorCount: Int {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path }
    }

    /// Waits until no thread has the file open.
    func isLeft(_ when: String, isolation: isolated (any Actor)? = #isolation) async throws {
        try await until("the file is left open \(when)") { descriptorCount == 0 }
        #expect(!StorageFile.isOpenAnywhere(path: path), "\(when)")
    }

    /// Waits until something holds that other threads bring about; it fails with `what` when that takes too long.
    func until(
        _ what: @autoclosure () -> String,
        isolation: isolated (any Actor)? = #isolation,
        _ condition: () -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(1_800)
        while !condition() {
            try #require(ContinuousClock.now < deadline, "\(what())")
            await Task.yield()
        }
    }
}
