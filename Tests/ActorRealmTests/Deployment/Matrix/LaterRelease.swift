import Foundation
import RealmTestSupport

@testable import ActorRealm

/// The process of the later release: does what the test's process asks for, and tells what it sees.
final class LaterRelease {
    private let line: ReleaseLine
    private var plan = ReleaseCase(seed: 0, changes: [])
    private var program: ReleaseProgram?
    private var realm: Realm?
    private let queue = DispatchQueue(label: "later release")

    init(_ line: ReleaseLine) { self.line = line }

    /// Serves until the other side is gone.
    static func serve(at path: String) {
        guard let line = ReleaseLine(at: path, asChild: true) else { return }
        let release = LaterRelease(line)
        release.queue.sync {
            while let request = line.receive(), request != "end" {
                line.send(release.answer(request.split(separator: " ").map(String.init)))
            }
        }
    }

    private func answer(_ words: [String]) -> String {
        var isDenied = false
        do {
            switch words.first {
            case "migrate": try migrate(words, holds: false)
            case "hold": try migrate(words, holds: true)
            case "write": try write()
            case "delete": isDenied = try delete()
            case "read": realm?.refresh()
            case "close":
                realm?.close()
                realm = nil
                return "closed"
            default: return "unknown"
            }
        } catch {
            return "error: \(error)"
        }
        guard let realm, let program else { return "closed" }
        return (program.world(of: realm).lines + (isDenied ? ["denied"] : [])).joined(separator: "\t")
    }

    private func migrate(_ words: [String], holds: Bool) throws {
        let changes = words[2].split(separator: "+").compactMap { ReleaseChange(rawValue: String($0)) }
        plan = ReleaseCase(seed: UInt64(words[1])!, changes: changes)
        let program = ReleaseProgram(plan.after)
        self.program = program
        let (release, line) = (plan, self.line)
        let configuration = program.configuration(words[3], version: 2) { migration, _ in
            if holds {
                line.send("inside")
                _ = line.receive()
            }
            release.migrate(migration)
        }
        realm = try Realm(configuration: configuration, queue: queue)
    }

    private func write() throws {
        guard let realm, let program else { return }
        try realm.write {
            program.create("Item", plan.row(90, of: plan.after), in: realm)
            program.object("Item", 1, in: realm)?[program.slot("b", of: "Item")] = LaterRelease.boxed(plan)
            realm.objects(ReleaseScores.self).first?.scores["later"] = 90
        }
    }

    /// Deletes a keeper.
    ///
    /// - Returns: whether a delete rule denies it.
    private func delete() throws -> Bool {
        guard let realm, let program else { return false }
        do {
            try realm.write { ReleaseKeeper.delete(2, program.shape.rule, in: realm) }
            return false
        } catch let error as Realm.Error where error.code == .deletionDenied {
            return true
        }
    }

    /// What the later release sets in the first item.
    static func value(_ plan: ReleaseCase) -> ReleaseValue { plan.row(91, of: plan.after)["b"]! }

    private static func boxed(_ plan: ReleaseCase) -> Any? {
        switch value(plan) {
        case .int(let value): value
        case .string(let value): value
        case .double(let value): value
        case .bool(let value): value
        case .ints(let values): values
        case .strings(let values): values
        case .map(let values): values
        case .texts(let values): values
        case .null, .link: nil
        }
    }
}
