import ActorRealm
import ExampleSupport
import Foundation

/// The mails as the user sees them: on the main actor, newest first, kept up to date by the changes.
@MainActor
final class Inbox {
    private let realm: Realm
    private let mails: Results<Mail>
    private var following: Task<Void, Never>?

    /// The identifiers of the mails, changed only by what the sequence says.
    private(set) var rows: [String] = []
    private(set) var updates = 0

    init(configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration)
        mails = realm.objects(Mail.self).sorted(byKeyPath: "date", ascending: false)
        following = Task { [weak self, mails] in
            for await change in mails.changes() {
                self?.apply(change)
            }
        }
    }

    /// All mails that are read, as a live query.
    var readMails: Results<Mail> {
        realm.objects(Mail.self).where { $0.read }
    }

    var count: Int { mails.count }
    var flaggedCount: Int { realm.objects(Mail.self).where { $0.flagged }.count }

    /// Marks all but the newest mails as read, without waiting for the disk on the main actor.
    func markRead(allButNewest unreadCount: Int) async throws -> Int {
        await realm.asyncRefresh()
        let chosen = Array(mails.dropFirst(unreadCount))
        try await realm.asyncWrite {
            for mail in chosen { mail.read = true }
        }
        return chosen.count
    }

    /// Marks some of the read mails as unread, with a flag.
    func keep(_ count: Int) async throws -> Set<String> {
        let kept = Array(readMails.prefix(count))
        try await realm.asyncWrite {
            for mail in kept {
                mail.read = false
                mail.flagged = true
            }
        }
        return Set(kept.map(\.identifier))
    }

    /// Waits until the rows are the collection.
    func settle(count: Int) async throws {
        let deadline = ContinuousClock.now + .seconds(240)
        while rows.count != count, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(2))
        }
        await realm.asyncRefresh()
        guard rows.elementsEqual(mails.map(\.identifier)) else {
            throw Mismatch(description: "The inbox shows \(rows.count) rows; the realm holds \(mails.count) mails.")
        }
    }

    func close() async {
        following?.cancel()
        await following?.value
    }

    /// The rows are not what the realm holds.
    struct Mismatch: Error, CustomStringConvertible {
        var description: String
    }

    private func apply(_ change: RealmCollectionChange<Results<Mail>>) {
        switch change {
        case .initial(let mails):
            rows = mails.map(\.identifier)
        case .update(let mails, let deletions, let insertions, _):
            updates += 1
            // Deletions first, from the end, then insertions: as a list view does it.
            if deletions.count == rows.count { rows.removeAll() } else { remove(deletions) }
            insert(insertions.map { ($0, mails[$0].identifier) })
        case .error(let error):
            Console.line("inbox: \(error)")
        }
    }

    private func remove(_ deletions: [Int]) {
        var gone = deletions[...]
        var kept: [String] = []
        kept.reserveCapacity(rows.count)
        for (index, row) in rows.enumerated() {
            if gone.first == index { gone = gone.dropFirst() } else { kept.append(row) }
        }
        rows = kept
    }

    private func insert(_ insertions: [(index: Int, row: String)]) {
        var result: [String] = []
        result.reserveCapacity(rows.count + insertions.count)
        var kept = rows[...]
        for (index, row) in insertions {
            let count = index - result.count
            result += kept.prefix(count)
            kept = kept.dropFirst(count)
            result.append(row)
        }
        rows = result + kept
    }
}
