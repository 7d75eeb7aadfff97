import ActorRealm
import AsyncAlgorithms
import ExampleSupport

/// Changes combined with the algorithms of swift-async-algorithms, as other sequences are.
struct Combination {
    private enum Event: Sendable {
        case list([String])
        case tick
    }

    private let todos: TodoActor

    init(_ todos: TodoActor) {
        self.todos = todos
    }

    /// Combines in four ways what the actor tells of its todos, while somebody writes, and prints what came of it.
    func run() async throws {
        async let calm = calmVersion()
        async let chunk = chunkSize()
        async let merged = listsAndTicks()
        async let shared = sharedCounts()
        let writing = Task { try await writeInBursts() }
        Console.line("   debounced: nobody wrote for 20 ms behind version \(await calm)")
        Console.line("   in chunks: \(Figures.count(await chunk, "version")) at once")
        let (lists, ticks) = await merged
        Console.line("   merged: \(Figures.count(lists, "list")) among \(Figures.count(ticks, "tick")) of a clock")
        Console.line(
            "   shared: one observer showed two readers \(await shared.map(String.init).joined(separator: " and ")) names"
        )
        writing.cancel()
        _ = await writing.result
    }

    /// Writes until the task is cancelled, with pauses that become longer.
    private func writeInBursts() async throws {
        var pause = Duration.milliseconds(20)
        while !Task.isCancelled {
            for number in 1...5 { try await todos.create(name: "note \(number)", owner: "bursts") }
            try await Task.sleep(for: pause)
            pause *= 2
        }
    }

    /// The first version behind which it is calm.
    private func calmVersion() async -> UInt64 {
        for await version in await todos.versions().debounce(for: .milliseconds(20)) { return version }
        return 0
    }

    /// The number of versions in the first chunk: three, or those of a fifth of a second.
    private func chunkSize() async -> Int {
        let timer = AsyncTimerSequence.repeating(every: .milliseconds(200))
        for await chunk in await todos.versions().chunks(ofCount: 3, or: timer) { return chunk.count }
        return 0
    }

    /// How many lists and ticks a loop over both hears of until there were two lists and a tick.
    private func listsAndTicks() async -> (lists: Int, ticks: Int) {
        let events = merge(
            await todos.openNames().map { Event.list($0) },
            AsyncTimerSequence.repeating(every: .milliseconds(5)).map { _ in Event.tick }
        )
        var (lists, ticks) = (0, 0)
        for await event in events {
            switch event {
            case .list: lists += 1
            case .tick: ticks += 1
            }
            if lists > 1, ticks > 0 { break }
        }
        return (lists, ticks)
    }

    /// How many names each of two readers of the same observer saw.
    private func sharedCounts() async -> [Int] {
        let names = await todos.openNames().share()
        return await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    for await names in names where names.contains("note 5") { return names.count }
                    return 0
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}
