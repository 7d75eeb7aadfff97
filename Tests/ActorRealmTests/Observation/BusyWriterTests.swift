import ActorRealm
import Foundation
import Testing

@Suite("Observers beside a writer that does not pause", .timeLimit(.minutes(60)))
struct BusyWriterTests {
    let file = ObservedFile()

    @Test("each of many observers hears of every commit that concerns it, and of no other")
    func busy() async throws {
        let observers = 20
        let worker = try await Worker(file.configuration)
        let other = try await Worker(file.configuration)
        try await worker.with { _, realm in
            try await realm.asyncWrite { for id in 0...observers { realm.create(Chore.self, value: ["id": id]) } }
        }
        let sequences = await worker.with { _, realm in
            (0..<observers).map { id in realm.objects(Chore.self).where { $0.id == id }.changes() }
        }
        var iterators = sequences.map { $0.makeAsyncIterator() }
        for id in 0..<observers { #expect(await iterators[id].next()?.told == .initial([""])) }
        let writing = Task {
            var number = 0
            while !Task.isCancelled {
                try await other.rename(observers, "\(number)")
                number += 1
            }
        }
        for round in 0..<8 {
            for id in 0..<observers {
                try await worker.rename(id, "\(round)")
                let told = await iterators[id].next()?.told
                #expect(
                    told == .update(["\(round)"], deletions: [], insertions: [], modifications: [0]),
                    "observer \(id), round \(round)"
                )
            }
        }
        writing.cancel()
        _ = try? await writing.value
    }
}
