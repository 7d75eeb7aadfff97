import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// A lock file of another user, beside a realm file that everybody may read.
@Suite("Lock files that may not be opened", .timeLimit(.minutes(60)))
struct UnreadableLockFileTests {
    @Test("Whether the realm is open cannot be told, and nothing is salvaged")
    func salvage() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let path = directory.path("foreign.realm")
            let file = try StorageFile.open(path: path)
            #expect(chmod(directory.url.path, 0o755) == 0 && chmod(path, 0o644) == 0 && chmod(path + ".lock", 0) == 0)
            // Who may do everything becomes somebody who may not.
            if getuid() == 0 { #expect(seteuid(65_533) == 0) }
            let error = #expect(throws: StorageError.self) { try DamagedFile(path: path) }
            #expect(error?.code == .permissionDenied)
            #expect(StorageFile.isOpenAnywhere(path: path), "it may be, and is")
            if getuid() == 0 { #expect(seteuid(0) == 0) }
            withExtendedLifetime((directory, file)) {}
        }
    }
}
