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

    @Test("A process that can open no more files takes no realm for closed")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let path = directory.path("open.realm")
            let file = try StorageFile.open(path: path)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var limit = rlimit()
            #expect(getrlimit(resource, &limit) == 0)
            var none = limit
            // The standard streams are counted.
            none.rlim_cur = 3
            #expect(setrlimit(resource, &none) == 0)
            let isOpen = StorageFile.isOpenAnywhere(path: path)
            #expect(setrlimit(resource, &limit) == 0)
            #expect(isOpen)
            #expect(!StorageFile.isOpenAnywhere(path: directory.path("none.realm")))
            #expect(!StorageFile.isOpenAnywhere(path: path + "/below.realm"))
            withExtendedLifetime(file) {}
        }
    }
}
