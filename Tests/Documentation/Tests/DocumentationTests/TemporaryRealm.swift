import ActorRealm
import Foundation

/// A realm file in a folder of its own, removed with the test that made it.
final class TemporaryRealm: Sendable {
    let configuration: Realm.Configuration
    private let folder: URL

    init(objectTypes: [ObjectBase.Type]? = nil) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("documentation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        configuration = Realm.Configuration(
            fileURL: folder.appendingPathComponent("test.realm"),
            objectTypes: objectTypes
        )
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }
}
