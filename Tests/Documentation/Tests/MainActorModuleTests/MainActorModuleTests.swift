import ActorRealm
import Foundation
import Testing

// Nothing in this module says where it is isolated: all of it is on the main actor.

class Note: Object {
    @Persisted(primaryKey: true) var id: UUID
    @Persisted var text: String
    @Persisted var tags: List<String>
    @Persisted var parent: Note?
    @Persisted(originProperty: "parent") var children: LinkingObjects<Note>
}

final class NoteList {
    let realm: Realm
    private(set) var texts: [String] = []

    init(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration)
    }

    func add(_ text: String, tags: [String] = []) async throws {
        let note = Note()
        note.text = text
        note.tags.append(objectsIn: tags)
        try await realm.asyncWrite {
            realm.add(note)
        }
    }

    func follow(until count: Int) async {
        for await change in realm.objects(Note.self).changes() {
            switch change {
            case .initial(let notes), .update(let notes, _, _, _): texts = notes.map(\.text)
            case .error: return
            }
            if texts.count >= count { return }
        }
    }
}

@Suite("A module that defaults to the main actor", .timeLimit(.minutes(60)))
struct MainActorModuleTests {
    @Test("Models, writes and change sequences need no annotations")
    func everyday() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let list = try await NoteList(Realm.Configuration(fileURL: folder.appendingPathComponent("notes.realm")))
        let following = Task { await list.follow(until: 2) }
        try await list.add("First", tags: ["a", "b"])
        try await list.add("Second")
        await following.value
        #expect(list.texts == ["First", "Second"])
        let notes = list.realm.objects(Note.self)
        #expect(notes.where { $0.tags.contains("b") }.count == 1)
        try list.realm.write {
            notes[1].parent = notes[0]
        }
        #expect(notes[0].children.first?.text == "Second")
    }
}
