import ActorRealm
import Foundation
import RealmTestSupport
import Testing

/// The usual clause of code that was written for RealmSwift, which catches nothing of Swift's own on Linux.
@Suite("A realm error is caught as an NSError", .timeLimit(.minutes(60)))
struct ErrorBridgingTests {
    let directory = TemporaryDirectory()

    /// Does not throw: the compiler takes the clause for one that catches everything.
    private func caught(_ body: () throws -> Void) -> NSError? {
        do {
            try body()
        } catch let error as NSError {
            return error
        }
        return nil
    }

    @Test("by the clause that RealmSwift's examples have, with domain, code, text and file")
    func caughtAsNSError() throws {
        let path = directory.path("missing") + "/a.realm"
        let configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Ship.self])
        let error = try #require(caught { _ = try Realm(configuration: configuration) })
        #expect(error.domain == "io.realm" && error.code == Realm.Error.Code.fileNotFound.rawValue)
        #expect(error.localizedDescription.contains(path))
        #expect(error.userInfo[NSFilePathErrorKey] as? String == path)
        let again = try #require(error as? Realm.Error)
        #expect(again == Realm.Error(.fileNotFound, fileURL: URL(fileURLWithPath: path)))
        #expect(again.description == error.localizedDescription && again.underlyingError != nil)
    }

    @Test("and is made of what an NSError carries")
    func fromUserInfo() {
        let below = NSError(domain: NSPOSIXErrorDomain, code: 2)
        let error = Realm.Error(
            .fileAccess,
            userInfo: [
                NSLocalizedDescriptionKey: "No.", NSFilePathErrorKey: "/a.realm", NSUnderlyingErrorKey: below,
            ]
        )
        #expect(error.code == .fileAccess && error.message == "No." && error.fileURL?.path == "/a.realm")
        #expect((error.underlyingError as? NSError) === below)
        #expect(Realm.Error(.fail, userInfo: [:]) == Realm.Error(.fail))
    }

    @Test("by cast, and an error of another domain is no realm error")
    func casts() {
        let error: any Error = Realm.Error(.fail)
        #expect(((error as Any) as? NSError)?.code == 1 && (error as NSError).domain == "io.realm")
        #expect(NSError(domain: NSCocoaErrorDomain, code: 5) as? Realm.Error == nil)
        #expect(NSError(domain: "io.realm", code: 5) as? Realm.Error == Realm.Error(.fileNotFound))
        #expect(NSError(domain: "io.realm", code: -5) as? Realm.Error == nil)
    }
}
