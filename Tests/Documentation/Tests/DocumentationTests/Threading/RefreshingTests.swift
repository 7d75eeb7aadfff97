import ActorRealm
import Testing

@Suite("Refreshing realms", .timeLimit(.minutes(60)))
struct RefreshingTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm()
    }

    @Test("Without autorefresh a realm stays at its version until it is refreshed")
    @MainActor
    func manualRefresh() async throws {
        let realm = try await Realm(configuration: file.configuration)
        realm.autorefresh = false
        let todos = realm.objects(Todo.self)
        #expect(todos.isEmpty)
        let actor = try await RealmActor(configuration: file.configuration)
        try await actor.addTodo(name: "Write the minutes", owner: "Ines", status: "Open")
        #expect(todos.isEmpty)
        if !realm.autorefresh {
            realm.refresh()
        }
        #expect(todos.count == 1)
        #expect(!realm.refresh())
    }

    @Test("asyncRefresh goes to the newest version without blocking")
    @MainActor
    func asyncRefresh() async throws {
        let realm = try await Realm(configuration: file.configuration)
        realm.autorefresh = false
        let todos = realm.objects(Todo.self)
        #expect(todos.isEmpty)
        let actor = try await RealmActor(configuration: file.configuration)
        try await actor.addTodo(name: "Write the minutes", owner: "Ines", status: "Open")
        #expect(await realm.asyncRefresh())
        #expect(todos.count == 1)
    }
}
