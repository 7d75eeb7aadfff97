import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

/// Files that were made by the releases whose formats they have.
@Suite struct GoldenFileTests {
    let directory = TemporaryDirectory()

    @Test(.enabled(if: ProcessInfo.processInfo.environment["REALM_GOLDEN"] != nil))
    func `make the files of the present format`() throws {
        let folder = URL(fileURLWithPath: try #require(ProcessInfo.processInfo.environment["REALM_GOLDEN"]))
        let path = directory.path("golden.realm")
        var database: GoldenDatabase? = try GoldenDatabase(at: path)
        let version = try #require(database).model.snapshot.version
        // As a crash leaves it: nothing says that the newest version is durable.
        try Data(contentsOf: URL(fileURLWithPath: path)).write(to: folder.appendingPathComponent("open.realm"))
        database = nil
        try Data(contentsOf: URL(fileURLWithPath: path)).write(to: folder.appendingPathComponent("closed.realm"))
        print("version \(version)")
    }
}
