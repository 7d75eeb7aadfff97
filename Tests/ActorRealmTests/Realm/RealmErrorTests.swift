import Foundation
import RealmStorage
import Testing

@testable import ActorRealm

@Suite("Realm.Error can be caught, compared and read")
struct RealmErrorTests {
    private func raise(_ code: Realm.Error.Code) throws {
        throw Realm.Error(code, "it failed", fileURL: URL(fileURLWithPath: "/tmp/x.realm"))
    }

    @Test("An error is caught by the name of its code, and by no other name")
    func catchingByName() throws {
        var caught = ""
        do {
            try raise(.fileNotFound)
        } catch Realm.Error.fileAccess {
            caught = "fileAccess"
        } catch Realm.Error.fileNotFound {
            caught = "fileNotFound"
        }
        #expect(caught == "fileNotFound")
    }

    @Test("An error is caught by its type and code")
    func catchingByType() throws {
        do {
            try raise(.schemaMismatch)
            Issue.record("nothing was thrown")
        } catch let error as Realm.Error where error.code == .schemaMismatch {
            #expect(error.fileURL?.path == "/tmp/x.realm")
            #expect(error.localizedDescription.contains("it failed"))
        }
    }

    @Test("Errors are equal when code and file are")
    func equality() {
        #expect(Realm.Error(.fail) == Realm.Error(.fail, "another message"))
        #expect(Realm.Error(.fail) != Realm.Error(.fileAccess))
        let (one, other) = (URL(fileURLWithPath: "/a.realm"), URL(fileURLWithPath: "/b.realm"))
        #expect(Realm.Error(.fail, fileURL: one) == Realm.Error(.fail, "another message", fileURL: one))
        #expect(Realm.Error(.fail, fileURL: one) != Realm.Error(.fail, fileURL: other))
        #expect(Realm.Error(.fail, fileURL: one) != Realm.Error(.fail))
        #expect(Realm.Error.callFailed == Realm.Error.fail)
        #expect((Realm.Error(.outOfDiskSpace) as NSError).code == 14)
    }

    @Test(
        "Every failure of the storage has a public code",
        arguments: [
            (StorageError.Code.io, Realm.Error.Code.fileAccess), (.full, .outOfDiskSpace),
            (.addressSpaceExhausted, .addressSpaceExhausted), (.corrupt, .invalidDatabase),
            (.notADatabase, .invalidDatabase), (.unsupportedFormat, .unsupportedFileFormatVersion),
            (.permissionDenied, .filePermissionDenied), (.notFound, .fileNotFound), (.exists, .fileExists),
            (.incompatibleLockFile, .incompatibleLockFile), (.limit, .limitExceeded), (.readOnly, .readOnly),
            (.writingStopped, .writingStopped), (.invalidArgument, .invalidInput),
        ]
    )
    func storageCodes(storage: StorageError.Code, expected: Realm.Error.Code) {
        let error = Realm.Error(storage: StorageError(storage, "what happened", path: "/tmp/y.realm", page: 7))
        #expect(error.code == expected)
        #expect(error.message.contains("what happened"))
        #expect(error.message.contains("page 7"))
        #expect(error.fileURL?.path == "/tmp/y.realm")
        #expect((error.underlyingError as? StorageError)?.code == storage)
    }
}
