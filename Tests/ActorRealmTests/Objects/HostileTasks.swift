import ActorRealm
import Foundation
import RealmTestSupport

/// Random calls of what throws and suspends, on an actor whose realm others close and invalidate.
actor HostileTasks {
    private let file = TestFile()
    private var realm: Realm?
    private var isClosed = false

    private func reopen() async throws -> Realm {
        if let realm, !isClosed { return realm }
        isClosed = false
        let opened = try await Realm(configuration: file.fast, actor: self)
        realm = opened
        return opened
    }

    private func close() {
        realm?.close()
        isClosed = true
    }

    /// Lets another job of the actor come between.
    private func interfere(_ kind: Int) {
        switch kind {
        case 0: close()
        case 1: realm?.invalidate()
        default: break
        }
    }

    private nonisolated func other(_ kind: Int) async { await interfere(kind) }

    private func call(_ number: Int, _ kind: Int, timeout: Duration) async throws {
        let realm = try await reopen()
        let interfering = Task { await self.other(kind) }
        defer { interfering.cancel() }
        switch number {
        case 0: try await realm.asyncWrite { _ = realm.create(Tally.self, value: ["name": "a"], update: .all) }
        case 1: try await realm.asyncWrite(timeout: timeout) { $0.deleteAll() }
        case 2: try await realm.asyncWrite(.init(timeout: timeout)) { _ = realm.objects(Tally.self).count }
        case 3:
            let transaction = try await realm.beginAsyncWrite(timeout: timeout)
            await interfering.value
            try realm.insert(Tally.self, value: ["name": "b\(Int.random(in: 0...Int.max))"])
            try await transaction.commit()
            try await transaction.commit()
        case 4:
            let transaction = try await realm.beginAsyncWrite()
            await other(kind)
            transaction.cancel()
            try await transaction.commit()
        case 5: try await realm.asyncWrite { close() }
        case 6: try await realm.asyncWrite { try realm.write {} }
        case 7:
            // The actor is free while that runs: what comes between would be a race of the program's own.
            await interfering.value
            try await Self.fromElsewhere(Unchecked(value: realm))
        case 8: _ = try await Realm.open(configuration: Realm.Configuration(fileURL: URL(fileURLWithPath: "/proc/no")))
        case 9: _ = try await Realm.withRealm(configuration: file.fast) { $0.objects(Tally.self).count }
        case 12: _ = try await Realm(configuration: file.fast)
        case 10: _ = try await Realm.open(configuration: Realm.Configuration(fileURL: nil))
        case 11: try await realm.beginAsyncWrite().commit(withoutNotifying: [NotificationToken()])
        default:
            let task = Task { try await self.write() }
            task.cancel()
            try await task.value
        }
        await interfering.value
    }

    private func write() async throws { try await reopen().asyncWrite {} }

    private struct Unchecked: @unchecked Sendable {
        let value: Realm
    }

    @concurrent
    private static func fromElsewhere(_ leak: Unchecked) async throws {
        let realm = leak.value
        try await realm.asyncWrite {}
    }

    func run(_ count: Int, seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        for number in 0..<count {
            let kind = Int.random(in: 0..<4, using: &random)
            let timeout: Duration = [.zero, .seconds(9), .seconds(-1), .seconds(Int64.max) * 9][
                Int.random(in: 0..<4, using: &random)
            ]
            let call = number < 14 ? number : Int.random(in: 0..<14, using: &random)
            FileHandle.standardError.write(Data("call \(call), \(kind)\n".utf8))
            do {
                try await self.call(call, kind, timeout: timeout)
            } catch {
                guard HostileCalls.isPublic(error) else {
                    throw HostileCalls.Leaked(call: "\(call)", error: "\(error)")
                }
            }
        }
    }
}
