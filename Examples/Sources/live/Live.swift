import ActorRealm
import ExampleSupport
import Foundation

/// A list of things to do that everybody sees as it is: over HTTP, in browsers, and in other processes.
@main
struct Live {
    private static let usage = """
        usage: live [--host ADDRESS] [--port N] [--heartbeat SECONDS] [--realm PATH]
               live add TEXT [--realm PATH]
               live edit ID [TEXT] [--done | --undone] [--realm PATH]
               live remove ID [--realm PATH]
               live list [--realm PATH]

        Without a command it serves the list over HTTP, and a page that follows it, until it is interrupted. The commands
        change the same file from a process of their own: the page shows that at once, too.

        --realm      The realm file; live.realm by default.
        --host       The address to listen on; 127.0.0.1 by default, which nobody else on the network reaches. There are
                     no users and no passwords: whoever reaches the server may change the list.
        --port       The port; 8080 by default, 0 for one that is free.
        --heartbeat  How often a connection on which nothing happens is tried; 5 seconds by default.
        """

    static func main() async {
        let arguments = CommandLineArguments(
            options: ["--realm", "--host", "--port", "--heartbeat"],
            flags: ["--done", "--undone"],
            usage: usage
        )
        let configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: arguments["--realm"] ?? "live.realm"),
            objectTypes: [Todo.self]
        )
        do {
            if arguments.positional.isEmpty {
                try await serve(configuration, arguments)
            } else {
                try await change(configuration, arguments)
            }
        } catch {
            Console.error("live: \(error)")
            exit(1)
        }
    }

    private static func serve(_ configuration: Realm.Configuration, _ arguments: CommandLineArguments) async throws {
        guard let port = UInt16(arguments["--port"] ?? "8080") else { misused("--port takes a number up to 65535.") }
        try await TodoServer(
            configuration: configuration,
            endpoint: Endpoint(host: arguments["--host"] ?? "127.0.0.1", port: port),
            heartbeat: .seconds(arguments.number("--heartbeat") ?? 5)
        )
        .run()
    }

    private static func change(_ configuration: Realm.Configuration, _ arguments: CommandLineArguments) async throws {
        let words = arguments.positional
        let isDone: Bool? = arguments.has("--done") ? true : arguments.has("--undone") ? false : nil
        let store = try await TodoStore(configuration: configuration)
        switch (words[0], words.count) {
        case ("add", 2):
            tell("added", try await store.add(TodoText(words[1])))
        case ("edit", 2) where isDone != nil:
            tell("edited", try await store.edit(words[1], text: nil, isDone: isDone))
        case ("edit", 3):
            tell("edited", try await store.edit(words[1], text: TodoText(words[2]), isDone: isDone))
        case ("remove", 2):
            tell("removed", try await store.remove(words[1]))
        case ("list", 1):
            for todo in await store.list() { tell("", todo) }
        default:
            misused("This is not a command, or too little or too much for it.")
        }
        await store.close()
    }

    private static func tell(_ verb: String, _ todo: TodoRecord) {
        Console.line("\(verb)\(verb.isEmpty ? "" : " ")\(todo.id) [\(todo.done ? "x" : " ")] \(todo.text)")
    }

    private static func misused(_ message: String) -> Never {
        Console.error("\(message)\n\n\(usage)")
        exit(64)
    }
}
