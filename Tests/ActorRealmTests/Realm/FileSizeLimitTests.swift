import ActorRealm
import Foundation
import Glibc
import RealmTestSupport
import Testing

/// The system ends a process by a signal that writes beyond the limit of its files' length: these tests do not ignore it.
@Suite("A limit of the length of files", .timeLimit(.minutes(60)))
struct FileSizeLimitTests {
    final class Parcel: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        @Persisted(primaryKey: true) var id: Int
        @Persisted var content: Data
    }

    private static func configuration(_ directory: TemporaryDirectory) -> Realm.Configuration {
        configuration(path: directory.path("limited.realm"))
    }

    private static func configuration(path: String, readOnly isReadOnly: Bool = false) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: URL(fileURLWithPath: path),
            readOnly: isReadOnly,
            objectTypes: [Parcel.self] as [ObjectBase.Type]
        )
    }

    /// Limits the length of this process's files; nil for what it was allowed at most.
    private static func limit(to byteCount: Int?) {
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        var limit = rlimit()
        #expect(getrlimit(resource, &limit) == 0)
        let most = limit.rlim_max
        limit.rlim_cur = byteCount.map { min(rlim_t($0), most) } ?? most
        #expect(setrlimit(resource, &limit) == 0)
    }

    /// Adds objects of 10,000 bytes in one transaction; returns the error.
    private static func add(_ ids: Range<Int>, to realm: Realm) -> Realm.Error? {
        do {
            try realm.write {
                for id in ids {
                    let parcel = Parcel()
                    parcel.id = id
                    parcel.content = Data(repeating: UInt8(truncatingIfNeeded: id), count: 10_000)
                    realm.add(parcel)
                }
            }
            return nil
        } catch { return error as? Realm.Error ?? Realm.Error(.fail, "\(error)") }
    }

    /// The identifiers of all objects, each of which has what it was given.
    private static func ids(in realm: Realm) -> [Int] {
        let parcels = realm.objects(Parcel.self).sorted(byKeyPath: "id")
        let isWhole = parcels.allSatisfy {
            $0.content == Data(repeating: UInt8(truncatingIfNeeded: $0.id), count: 10_000)
        }
        #expect(isWhole)
        return parcels.map(\.id)
    }

    @Test("A commit beyond the limit is an error that names it, and what follows goes on", arguments: [600, 4_000])
    func commits(count: Int) async {
        await #expect(processExitsWith: .success) { [count = count as Int] in
            signal(SIGXFSZ, SIG_DFL)
            let directory = TemporaryDirectory()
            let more = 1_000..<1_000 + count
            try withNewRealm(FileSizeLimitTests.configuration(directory)) { realm in
                let first = FileSizeLimitTests.add(0..<10, to: realm)
                #expect(first == nil)
                // While the realm is open.
                FileSizeLimitTests.limit(to: 4 << 20)
                let refused = FileSizeLimitTests.add(more, to: realm)
                #expect(refused?.code == .outOfDiskSpace)
                #expect(refused?.message.contains("RLIMIT_FSIZE") == true)
                var ids = FileSizeLimitTests.ids(in: realm)
                #expect(ids == Array(0..<10))
                let small = FileSizeLimitTests.add(10..<11, to: realm)
                #expect(small == nil)
                FileSizeLimitTests.limit(to: nil)
                let taken = FileSizeLimitTests.add(more, to: realm)
                #expect(taken == nil)
                ids = FileSizeLimitTests.ids(in: realm)
                #expect(ids == Array(0..<11) + Array(more))
                try realm.verify()
                realm.close()
            }
            withExtendedLifetime(directory) {}
        }
    }

    @Test("A file beyond the limit is read, and written again when the limit is raised")
    func longFiles() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_DFL)
            let directory = TemporaryDirectory()
            let configuration = FileSizeLimitTests.configuration(directory)
            try withNewRealm(configuration) { realm in
                let error = FileSizeLimitTests.add(0..<600, to: realm)
                #expect(error == nil)
                realm.close()
            }
            FileSizeLimitTests.limit(to: 2 << 20)
            try withNewRealm(configuration) { realm in
                var ids = FileSizeLimitTests.ids(in: realm)
                #expect(ids == Array(0..<600))
                let refused = FileSizeLimitTests.add(600..<1_000, to: realm)
                #expect(refused?.code == .outOfDiskSpace)
                ids = FileSizeLimitTests.ids(in: realm)
                #expect(ids == Array(0..<600))
                realm.close()
            }
            FileSizeLimitTests.limit(to: nil)
            try withNewRealm(configuration) { realm in
                let error = FileSizeLimitTests.add(600..<1_000, to: realm)
                #expect(error == nil)
                let ids = FileSizeLimitTests.ids(in: realm)
                #expect(ids == Array(0..<1_000))
                try realm.verify()
                realm.close()
            }
            withExtendedLifetime(directory) {}
        }
    }

    @Test("A realm that is only read is an error where its lock file has no room, also as the first of its process")
    func readOnlyRealms() async {
        let directory = TemporaryDirectory()
        let path = directory.path("limited.realm")
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(FileSizeLimitTests.configuration(path: path)) { realm in
                let added = FileSizeLimitTests.add(0..<10, to: realm)
                #expect(added == nil)
                realm.close()
            }
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            signal(SIGXFSZ, SIG_DFL)
            FileSizeLimitTests.limit(to: 4_096)
            let configuration = FileSizeLimitTests.configuration(path: path, readOnly: true)
            let error = #expect(throws: Realm.Error.self) {
                try withNewRealm(configuration) { $0.close() }
            }
            #expect(error?.code == .outOfDiskSpace)
            #expect(error?.message.contains("RLIMIT_FSIZE") == true)
            FileSizeLimitTests.limit(to: nil)
            try withNewRealm(configuration) { realm in
                let ids = FileSizeLimitTests.ids(in: realm)
                #expect(ids == Array(0..<10))
                realm.close()
            }
        }
        withExtendedLifetime(directory) {}
    }

    @Test("A new file for which the limit leaves no room is an error, and can be made when it is raised")
    func newFiles() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_DFL)
            let directory = TemporaryDirectory()
            FileSizeLimitTests.limit(to: 4_096)
            let error = #expect(throws: Realm.Error.self) {
                try withNewRealm(FileSizeLimitTests.configuration(directory)) { $0.close() }
            }
            #expect(error?.code == .outOfDiskSpace)
            FileSizeLimitTests.limit(to: nil)
            try withNewRealm(FileSizeLimitTests.configuration(directory)) { realm in
                let added = FileSizeLimitTests.add(0..<10, to: realm)
                #expect(added == nil)
                realm.close()
            }
            withExtendedLifetime(directory) {}
        }
    }
}
