import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// The code with which each failure of opening is thrown.
@Suite("Each failure of opening has RealmSwift's code", .timeLimit(.minutes(60)))
struct OpeningErrorTests {
    let directory = TemporaryDirectory()

    private func configuration(_ path: String, readOnly: Bool = false) -> Realm.Configuration {
        var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), readOnly: readOnly)
        configuration.objectTypes = [Harbour.self, Ship.self, Position.self, Remark.self]
        return configuration
    }

    private func code(_ configuration: Realm.Configuration) -> Realm.Error.Code? {
        let error = #expect(throws: Realm.Error.self) {
            try DispatchQueue(label: "opening").sync { _ = try Realm(configuration: configuration) }
        }
        // A failure of the lock file names that.
        #expect(error?.fileURL?.path.hasPrefix(configuration.fileURL!.path) == true, "\(error as Any)")
        return error?.code
    }

    private func make(_ path: String) throws {
        try DispatchQueue(label: "making")
            .sync { try Realm(configuration: configuration(path)).write {} }
    }

    @Test("a path that cannot exist: below a file, of a name that is too long, below a loop of symbolic links")
    func impossiblePaths() throws {
        try Data("text".utf8).write(to: URL(fileURLWithPath: directory.path("file")))
        #expect(code(configuration(directory.path("file") + "/a.realm")) == .fileOperationFailed)
        #expect(code(configuration("/dev/null/a.realm")) == .fileOperationFailed)
        #expect(code(configuration(directory.path(String(repeating: "n", count: 300)))) == .fileOperationFailed)
        let loop = directory.path("loop")
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        #expect(code(configuration(loop + "/a.realm")) == .fileOperationFailed)
        #expect(code(configuration("/dev/null/a.realm", readOnly: true)) == .fileOperationFailed)
    }

    @Test("a path that goes up behind a symbolic link is the one that the system finds")
    func upBehindLink() throws {
        let (files, target) = (FileManager.default, directory.path("volume/data"))
        try files.createDirectory(atPath: target, withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: directory.path("link"), withDestinationPath: target)
        try make(directory.path("link") + "/../a.realm")
        #expect(files.fileExists(atPath: directory.path("volume/a.realm")))
        #expect(!files.fileExists(atPath: directory.path("a.realm")))
        #expect(Realm.fileExists(for: configuration(directory.path("link/../a.realm"))))
        // Under both names it is one realm.
        try DispatchQueue(label: "both")
            .sync {
                let realm = try Realm(configuration: configuration(directory.path("volume/a.realm")))
                #expect(try realm === Realm(configuration: configuration(directory.path("link/../a.realm"))))
            }
        // No directory: as text it is as good as without.
        try make(directory.path("nowhere/../b.realm"))
        #expect(files.fileExists(atPath: directory.path("b.realm")))
    }

    @Test("a directory that does not exist, and a missing file that is only to be read")
    func notFound() {
        #expect(code(configuration(directory.path("missing") + "/a.realm")) == .fileNotFound)
        #expect(code(configuration(directory.path("a.realm"), readOnly: true)) == .fileNotFound)
    }

    @Test("a directory in the file's place, and another kind of file")
    func notARealm() throws {
        try FileManager.default.createDirectory(atPath: directory.path("folder"), withIntermediateDirectories: false)
        #expect(code(configuration(directory.path("folder"))) == .invalidDatabase)
        try Data(repeating: 7, count: 100_000).write(to: URL(fileURLWithPath: directory.path("garbage")))
        #expect(code(configuration(directory.path("garbage"))) == .invalidDatabase)
    }

    @Test("a file in the lock file's place that is none")
    func lockFile() throws {
        try make(directory.path("a.realm"))
        let lock = directory.path("a.realm.lock")
        try Data(repeating: 255, count: 4096).write(to: URL(fileURLWithPath: lock))
        #expect(code(configuration(directory.path("a.realm"))) == .incompatibleLockFile)
    }

    @Test("a schema that needs a migration, a version that goes back, a target that exists, a file that is open")
    func others() throws {
        let path = directory.path("a.realm")
        try DispatchQueue(label: "making")
            .sync {
                var configuration = configuration(path)
                configuration.schemaVersion = 2
                configuration.objectTypes = [Ship.self, Harbour.self, Position.self, Remark.self]
                try Realm(configuration: configuration).write {}
            }
        #expect(code(configuration(path)) == .schemaMismatch)
        let other = directory.path("b.realm")
        try make(other)
        try DispatchQueue(label: "copying")
            .sync {
                let realm = try Realm(configuration: configuration(other))
                #expect(throws: Realm.Error(.fileExists, fileURL: URL(fileURLWithPath: path))) {
                    try realm.writeCopy(toFile: URL(fileURLWithPath: path))
                }
                #expect(throws: Realm.Error(.alreadyOpen, fileURL: URL(fileURLWithPath: other))) {
                    try Realm.deleteFiles(for: configuration(other))
                }
            }
    }
}
