import ActorRealm
import ExampleSupport
import Foundation

/// An inbox that stays responsive while mails arrive and read ones are deleted behind its back.
@main
@MainActor
struct Mailbox {
    private static let usage = """
        usage: mailbox [FILE] [--realm PATH]

        FILE     An mbox file. By default the history of the repository in the current folder, or of the one that this
                 example comes from, as git format-patch writes it.
        --realm  Keep the realm in this file; by default it is made anew and removed.
        """

    static func main() async {
        let arguments = CommandLineArguments(options: ["--realm"], flags: [], usage: usage)
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("mailbox-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: scratch) }
            let path = arguments["--realm"] ?? scratch.appendingPathComponent("mailbox.realm").path
            let configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [Mail.self])
            let file = arguments.positional.first
            try await run(configuration) { try file.map(ByteSource.init(file:)) ?? history() }
        } catch {
            Console.error("mailbox: \(error)")
            exit(1)
        }
    }

    private static func run(
        _ configuration: Realm.Configuration,
        open: @escaping @Sendable () throws -> ByteSource
    ) async throws {
        let heartbeat = Heartbeat()
        let start = ContinuousClock.now
        let inbox = try await Inbox(configuration: configuration)
        let office = PostOffice(configuration: configuration)

        let fetched = try await office.fetch(from: open)
        let marked = try await inbox.markRead(allButNewest: fetched / 3)
        Console.line("\(Figures.count(fetched, "mail")) fetched in the background, \(marked) marked as read")

        // Handed over: the query, not the mails that match it now.
        let reference = ThreadSafeReference(to: inbox.readMails)
        let kept = try await inbox.keep(3)
        Console.line("\(kept.count) marked as unread again, after the read ones were handed over for deletion")

        try await office.write(reference) { realm, readMails in
            guard let readMails else { return }
            realm.delete(readMails)
        }
        let left = fetched - marked + kept.count
        try await inbox.settle(count: left)
        let survivors = kept.intersection(inbox.rows)
        guard survivors == kept, inbox.readMails.isEmpty else {
            throw Inbox.Mismatch(description: "\(kept.count - survivors.count) mails that were unread again are gone.")
        }
        let deleted = Figures.count(marked - kept.count, "read mail")
        Console.line("\(deleted) deleted in the background, \(inbox.count) left")
        Console.line("the inbox followed in \(Figures.count(inbox.updates, "update"))")
        await inbox.close()
        let elapsed = ContinuousClock.now - start
        Console.line("\(Figures.seconds(elapsed)); \(heartbeat.stop().summary)")
    }

    /// The mails that git makes of a repository's commits, the oldest first.
    private nonisolated static func history() throws -> ByteSource {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
        let here = FileManager.default.currentDirectoryPath
        let isRepository = FileManager.default.fileExists(atPath: here + "/.git")
        return try ByteSource(
            program: "/usr/bin/env",
            arguments: [
                "git", "-C", isRepository ? here : source, "format-patch", "--stdout", "--root", "--no-signature",
                "HEAD",
            ]
        )
    }
}
