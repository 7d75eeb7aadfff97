import ActorRealm
import AsyncAlgorithms
import Testing

/// The examples of `Docs/Observation.md`: change sequences combined with those of swift-async-algorithms.
@Suite("Changes combined with timers, channels and other sequences", .timeLimit(.minutes(60)))
struct CompositionTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm(objectTypes: [Email.self])
    }

    /// Lives on one realm: writes, and follows what others write.
    private actor Inbox {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func receive(_ subject: String) async throws {
            try await realm.asyncWrite { realm.create(Email.self, value: ["subject": subject]) }
        }

        /// The unread subjects whenever they change, to be sent anywhere.
        func subjects() -> MappedChanges<CollectionChanges<Results<Email>>, [String]> {
            realm.objects(Email.self).where { !$0.read }.changes()
                .map { change in change.collection.map { $0.map(\.subject) } ?? [] }
        }

        /// The versions of the file.
        func versions() -> MappedChanges<RealmChanges, UInt64> {
            realm.changes.map(\.version)
        }

        /// Sends what is shown to a channel: as long as nobody takes it the loop waits, and what is committed meanwhile
        /// is one change.
        func follow(_ channel: AsyncChannel<[String]>) async {
            for await change in realm.objects(Email.self).changes() {
                // Live objects of this actor's realm.
                guard let emails = change.collection else { break }
                await channel.send(emails.map(\.subject))
            }
            channel.finish()
        }
    }

    private enum Event: Sendable {
        case shows([String])
        case tick
    }

    @Test("A loop that hears of changes and of a clock")
    func timer() async throws {
        let inbox = try await Inbox(file.configuration)
        let events = merge(
            await inbox.subjects().map { Event.shows($0) },
            AsyncTimerSequence.repeating(every: .milliseconds(10)).map { _ in Event.tick }
        )
        var shown: [String] = []
        var ticks = 0
        for await event in events {
            switch event {
            case .shows(let subjects): shown = subjects
            case .tick:
                ticks += 1
                if ticks == 3 { try await inbox.receive("hello") }
            }
            if shown == ["hello"], ticks > 3 { break }
        }
        #expect(shown == ["hello"])
    }

    @Test("An actor that hands on what it is told through a channel")
    func channel() async throws {
        let inbox = try await Inbox(file.configuration)
        let channel = AsyncChannel<[String]>()
        let following = Task { await inbox.follow(channel) }
        var received = channel.makeAsyncIterator()
        #expect(await received.next() == [])
        try await inbox.receive("one")
        try await inbox.receive("two")
        var subjects: [String] = []
        while subjects != ["one", "two"], let next = await received.next() {
            #expect(next.count > subjects.count, "never back, and nothing twice")
            subjects = next
        }
        following.cancel()
        #expect(await received.next() == nil)
    }

    @Test("A loop that waits until nobody has written for a while")
    func debounced() async throws {
        let inbox = try await Inbox(file.configuration)
        let versions = await inbox.versions().debounce(for: .milliseconds(20))
        let calm = Task {
            for await version in versions { return version }
            return 0
        }
        let writing = Task {
            var pause = Duration.milliseconds(20)
            while !Task.isCancelled {
                for number in 0..<5 { try await inbox.receive("\(number)") }
                try await Task.sleep(for: pause)
                pause *= 2
            }
        }
        #expect(await calm.value > 0)
        writing.cancel()
        _ = await writing.result
    }

    @Test("A loop that gets several changes at once, or what there is after a while")
    func chunked() async throws {
        let inbox = try await Inbox(file.configuration)
        let chunks = await inbox.versions().chunks(ofCount: 3, or: .repeating(every: .milliseconds(200)))
        let reading = Task {
            var versions: [UInt64] = []
            for await chunk in chunks {
                #expect(!chunk.isEmpty && chunk.count <= 3)
                versions += chunk
                if versions.count >= 7 { break }
            }
            return versions
        }
        let writing = Task {
            while !Task.isCancelled { try await inbox.receive("next") }
        }
        let versions = await reading.value
        #expect(versions.count >= 7)
        #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 }, "in order, and none twice")
        writing.cancel()
        _ = await writing.result
    }

    @Test("One observer whose elements several tasks share")
    func shared() async throws {
        let inbox = try await Inbox(file.configuration)
        let subjects = await inbox.subjects().share()
        let readers = (0..<3)
            .map { _ in
                Task {
                    for await shown in subjects where shown.last == "last" { return shown.count }
                    return 0
                }
            }
        // Whoever begins late hears of the next change.
        let writing = Task {
            while !Task.isCancelled { try await inbox.receive("last") }
        }
        for reader in readers { #expect(await reader.value > 0) }
        writing.cancel()
        _ = await writing.result
    }
}
