import ActorRealm

/// What became of the writes of a task.
struct Outcomes: Sendable {
    var cancelled = 0
    var timedOut = 0
    var failed = 0
    var failure = ""

    mutating func add(_ other: Outcomes) {
        cancelled += other.cancelled
        timedOut += other.timedOut
        failed += other.failed
        if failure.isEmpty { failure = other.failure }
    }
}

/// One task of the storm: writes in all ways, and cancels some of its writes.
struct Worker {
    private let process: Int
    private let task: Int
    private let writer: any Writer
    private var random: Generator
    private var outcomes = Outcomes()

    /// A generator that is the same for the same seed.
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }

    init(_ process: Int, _ task: Int, _ writer: any Writer, _ seed: UInt64) {
        self.process = process
        self.task = task
        self.writer = writer
        random = Generator(state: seed)
    }

    /// Writes until the time is over.
    mutating func work(until deadline: ContinuousClock.Instant) async -> Outcomes {
        var number = 0
        while ContinuousClock.now < deadline {
            number += 1
            await write((process << 48) | (task << 24) | number)
        }
        return outcomes
    }

    private mutating func write(_ id: Int) async {
        let mayBlock = type(of: writer).mayBlock
        let kind: WriteKind =
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<5: .limited
            case 5..<10 where !mayBlock: .twoSteps
            case 10..<15 where mayBlock: .blocking
            case 15..<20 where mayBlock: .handedOver
            case 20..<30: .callback
            default: .asynchronous
            }
        let delay: Int? = Int.random(in: 0..<10, using: &random) == 0 ? Int.random(in: 0..<20_000, using: &random) : nil
        let writing = Task { [writer] in try await writer.write(id, kind) }
        if let delay {
            if delay > 1_000 { try? await Task.sleep(for: .microseconds(delay)) }
            writing.cancel()
        }
        do {
            // When the time is over, whoever waits still is cancelled, too.
            try await withTaskCancellationHandler {
                try await writing.value
            } onCancel: {
                writing.cancel()
            }
        } catch is CancellationError {
            outcomes.cancelled += 1
        } catch Realm.Error.timedOut {
            outcomes.timedOut += 1
        } catch {
            outcomes.failed += 1
            if outcomes.failure.isEmpty { outcomes.failure = "\(error)" }
        }
    }
}
