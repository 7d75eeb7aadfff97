import Foundation
import RealmStorage
import RealmTestSupport
import Testing

/// Power cuts: every state of the disk that a workload can leave behind, with unflushed writes lost, reordered and torn in
/// sectors, opens at the last acknowledged version or at one that was being committed, whole.
///
/// `REALM_CRASH_STATES` sets the number of states (default 1,000).
@Suite struct CrashStateTests {
    let directory = TemporaryDirectory()

    private struct Workload {
        var operations: [RecordingDevice.Operation]
        /// The values of every version that was ever prepared.
        var history: [UInt64: [UInt64]]
    }

    private func run(seed: UInt64) throws -> Workload {
        var random = SplitMix64(seed: seed)
        let log = RecordingDevice.Log()
        let path = directory.path("workload-\(seed).realm")
        var history: [UInt64: [UInt64]] = [:]
        var model = [UInt64](repeating: 0, count: PageArray.count)
        _ = try StorageFile.open(path: path)
        log.append(.write(offset: 0, bytes: Array(try Data(contentsOf: URL(fileURLWithPath: path)))))
        log.append(.synchronize)
        log.append(.acknowledged(version: 1))
        var options = StorageOptions()
        options.makeDevice = { RecordingDevice($0, log: log) }
        for session in 0..<3 {
            let file = try StorageFile.open(path: path, options: options)
            #expect(try file.tryLockForWriting())
            for round in 0..<25 {
                var commits: [PreparedCommit] = []
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let transaction = try file.beginWrite()
                    if session == 0, round == 0, commits.isEmpty { try PageArray.create(in: transaction) }
                    for _ in 0..<Int.random(in: 1...20, using: &random) {
                        let index = Int.random(in: 0..<PageArray.count, using: &random)
                        model[index] = random.next()
                        try PageArray.set(index, to: model[index], in: transaction)
                    }
                    transaction.changes.recordModify(table: 1, key: Int64(round), column: 1)
                    commits.append(try PageArray.commit(transaction))
                    history[commits.last!.version] = model
                }
                try file.publish(commits)
                log.append(.acknowledged(version: commits.last!.version))
            }
            file.unlockForWriting()
        }
        return Workload(operations: log.state.withLock { $0.operations }, history: history)
    }

    @Test func `no power cut loses an acknowledged commit or leaves a file that does not open`() throws {
        let wanted = Int(ProcessInfo.processInfo.environment["REALM_CRASH_STATES"] ?? "") ?? 1000
        var checked = 0
        var seed: UInt64 = 0
        while checked < wanted {
            seed += 1
            var random = SplitMix64(seed: seed &* 7919)
            let workload = try run(seed: seed)
            var durable: [UInt8] = []
            var pending: [(offset: Int, bytes: [UInt8])] = []
            var acknowledged: UInt64 = 1
            for operation in workload.operations {
                switch operation {
                case .acknowledged(let version): acknowledged = version
                case .setByteCount(let count): durable = Array(durable.prefix(count))
                case .synchronize:
                    for write in pending { apply(write.bytes[...], at: write.offset, to: &durable) }
                    pending = []
                case .write(let offset, let bytes): pending.append((offset, bytes))
                }
                if acknowledged == 1 { continue }
                let variants = pending.isEmpty ? 1 : 4
                for variant in 0..<variants where checked < wanted {
                    let image = survivor(durable, pending, variant: variant, random: &random)
                    try check(image, acknowledged: acknowledged, history: workload.history, seed: seed, state: checked)
                    checked += 1
                }
            }
        }
        print("crash states checked: \(checked), workloads: \(seed)")
    }

    /// What a power cut leaves of the unflushed writes.
    private func survivor(
        _ durable: [UInt8],
        _ pending: [(offset: Int, bytes: [UInt8])],
        variant: Int,
        random: inout SplitMix64
    ) -> [UInt8] {
        var image = durable
        for (index, write) in pending.enumerated() {
            switch variant {
            case 0: break
            case 1 where index == pending.count - 1: apply(write.bytes[...], at: write.offset, to: &image)
            case 2 where index != pending.count - 1: apply(write.bytes[...], at: write.offset, to: &image)
            case 3:
                for start in stride(from: 0, to: write.bytes.count, by: 512) where Bool.random(using: &random) {
                    let end = min(start + 512, write.bytes.count)
                    apply(write.bytes[start..<end], at: write.offset + start, to: &image)
                }
            default: break
            }
        }
        return image
    }

    private func apply(_ bytes: ArraySlice<UInt8>, at offset: Int, to image: inout [UInt8]) {
        if image.count < offset + bytes.count {
            image.append(contentsOf: repeatElement(0, count: offset + bytes.count - image.count))
        }
        image.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
    }

    private func check(
        _ image: [UInt8],
        acknowledged: UInt64,
        history: [UInt64: [UInt64]],
        seed: UInt64,
        state: Int
    ) throws {
        let path = directory.path("state.realm")
        try? FileManager.default.removeItem(atPath: path)
        try Data(image).write(to: URL(fileURLWithPath: path))
        do {
            let file = try StorageFile.open(path: path)
            let snapshot = try file.beginRead()
            #expect(snapshot.version >= acknowledged, "seed \(seed) state \(state)")
            let values = try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)
            #expect(values == history[snapshot.version], "seed \(seed) state \(state)")
            try PageArray.audit(snapshot)
            if state % 16 == 0 {
                // Recovery is followed by work.
                #expect(try file.tryLockForWriting())
                let transaction = try file.beginWrite()
                try PageArray.set(1, to: 42, in: transaction)
                try file.publish([try PageArray.commit(transaction)])
                try PageArray.audit(try file.beginRead())
            }
        } catch {
            Issue.record("seed \(seed) state \(state): \(error)")
        }
    }

    @Test func `each failed call loses nothing that was acknowledged and resurrects nothing`() throws {
        for failing in 0..<60 {
            let log = RecordingDevice.Log()
            let path = directory.path("failing-\(failing).realm")
            var options = StorageOptions()
            options.makeDevice = { RecordingDevice($0, log: log) }
            var model = [UInt64](repeating: 0, count: PageArray.count)
            var didFail = false
            do {
                let file = try StorageFile.open(path: path, options: options)
                #expect(try file.tryLockForWriting())
                var transaction = try file.beginWrite()
                try PageArray.create(in: transaction)
                try file.publish([try PageArray.commit(transaction)])
                log.fail(at: failing, forever: failing % 3 == 0)
                for round in 1...25 {
                    var next = model
                    do {
                        transaction = try file.beginWrite()
                        for index in 0..<8 {
                            let place = (round * 8 + index) % PageArray.count
                            next[place] = UInt64(round)
                            try PageArray.set(place, to: UInt64(round), in: transaction)
                        }
                        try file.publish([try PageArray.commit(transaction)])
                        model = next
                    } catch {
                        didFail = true
                    }
                    let snapshot = try file.beginRead()
                    #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view) == model)
                }
                log.fail(at: nil)
                file.unlockForWriting()
            }
            #expect(didFail)
            let snapshot = try StorageFile.open(path: path).beginRead()
            #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view) == model, "call \(failing)")
            try PageArray.audit(snapshot)
        }
    }
}
