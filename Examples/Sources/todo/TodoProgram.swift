import ActorRealm
import ExampleSupport
import Foundation

/// The todos of a Markdown file on several actors: written, read, handed over and observed.
@main
@MainActor
struct TodoProgram {
    private static let usage = """
        usage: todo [FILE] [--realm PATH]

        FILE     A Markdown file with a list of things to do: lines that begin with "- [ ]" or, when done, "- [x]".
                 By default the list for contributors in this repository's CONTRIBUTING.md.
        --realm  Keep the realm in this file; by default it is made anew and removed.
        """

    static func main() async {
        let arguments = CommandLineArguments(options: ["--realm"], flags: [], usage: usage)
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("todo-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: scratch) }
            let items = try ChecklistItem.items(inFile: arguments.positional.first ?? ChecklistItem.standardFile)
            let path = arguments["--realm"] ?? scratch.appendingPathComponent("todo.realm").path
            let heartbeat = Heartbeat()
            try await run(items, configuration: Realm.Configuration(fileURL: URL(fileURLWithPath: path)))
            Console.line("\n\(heartbeat.stop().summary)")
        } catch {
            Console.error("todo: \(error)")
            exit(1)
        }
    }

    private static func run(_ items: [ChecklistItem], configuration: Realm.Configuration) async throws {
        Console.line("1. An actor with a realm of its own stores \(Figures.count(items.count, "item"))")
        let todos = try await TodoActor(configuration: configuration)
        for item in items {
            try await todos.create(name: item.text, owner: item.section, status: item.isDone ? .done : .open)
        }
        let count = await todos.count
        Console.line("   it holds \(count) now")
        guard let first = items.first(where: { !$0.isDone }) ?? items.first, let last = items.last else { return }

        Console.line("2. The main actor follows the collection; a background actor observes it, and one todo")
        let watch = try await Watch(configuration: configuration, todoNamed: first.text)

        Console.line("3. A function isolated to the actor starts what is open, without waiting")
        let started = try await startEverything(on: todos)
        Console.line("   started \(started)")

        Console.line("4. Values go anywhere: an owner, and a whole todo as a struct")
        if let owner = await todos.owner(ofTodoNamed: first.text), let value = await todos.todo(named: first.text) {
            Console.line("   \"\(value.name)\" belongs to \(owner) and is \(value.status.rawValue)")
        }

        Console.line("5. A global actor finishes a todo and gives its key; the main actor finds it by that")
        let realm = try await Realm(configuration: configuration)
        if let id = try await finishFirstTodo(of: first.section, configuration: configuration) {
            await realm.asyncRefresh()
            let todo = realm.object(ofType: Todo.self, forPrimaryKey: id)
            Console.line("   \"\(todo?.name ?? "?")\" is \(todo?.status.rawValue ?? "gone")")
        }

        Console.line("6. A reference goes to another actor, which deletes what it refers to")
        if let reference = await todos.reference(toTodoNamed: last.text) {
            let name = try await BackgroundActor.shared.delete(reference, configuration: configuration)
            Console.line("   deleted \"\(name ?? "nothing")\"")
        }

        Console.line("7. What the observers were told")
        let id = await todos.todo(named: first.text)?.id
        if let id { try await todos.delete(id) }
        await realm.asyncRefresh()
        let expected = realm.objects(Todo.self).count
        try await watch.finish(expectedCount: expected)

        Console.line("8. Changes combined with other sequences, while somebody writes in bursts")
        try await Combination(todos).run()
        await todos.close()
    }
}
