/// What is asked of us in a row.
///
/// Times differ from machine to machine and from hour to hour, so a goal names a figure of the same run where it
/// can.
package enum Goal {
    /// A figure, where it does not depend on the machine.
    case figure(Double)
    /// So much of the limit.
    case ofLimit(Double)
    /// So many times as good as the best peer.
    case timesBest(Double)
    /// So many times as good as one peer, whatever the others make.
    case timesPeer(String, Double)
    /// At most so many times our own figure in another row, where less is better.
    case timesOwn(RowIdentifier, Double)
}

/// A goal that a run has missed.
package struct MissedGoal: CustomStringConvertible {
    package var row: RowIdentifier
    package var ours: Samples
    package var target: Double
    package var goal: Goal

    /// Whether a run with this in it fails: an open issue promises the goal, and there are rounds enough to tell.
    package var isFailure: Bool { row.isPromised && ours.figures.count >= Comparison.leastRounds }

    package var description: String {
        let sign = row.isHigherBetter ? "\u{2265}" : "\u{2264}"
        return "\(row.rawValue): \(ours.shown) \(row.unit), "
            + "goal \(sign) \(Samples.shown(target)), \(goal)"
            + (row.isPromised ? "" : "; no open issue promises it")
    }
}

extension Goal: CustomStringConvertible {
    package var description: String {
        func factor(_ number: Double) -> String { Samples.shown(number) }
        return switch self {
        case .figure: "a figure that no machine changes"
        case .ofLimit(let share): "\(factor(share)) x the limit"
        case .timesBest(let times): "\(factor(times)) x the best peer"
        case .timesPeer(let name, let times): "\(factor(times)) x \(name)"
        case .timesOwn(let row, let times): "\(factor(times)) x our own \(row.rawValue)"
        }
    }
}

extension RowIdentifier {
    /// Whether an open issue promises this row's goals.
    ///
    /// The issues are about a log of commits, and what it makes of openings and of readers beside writers. The goals of all
    /// other rows are printed when they are missed, and nothing fails.
    package var isPromised: Bool {
        switch self {
        case .serial, .serialAsync, .attached, .observed, .commitBytes, .serialTail, .noSync, .noSyncAsync, .tasks,
            .readBesideWriter, .writeBesideReader, .processes, .openCold, .openKilled:
            true
        default: false
        }
    }

    /// All that is asked; nothing where a row only shows something.
    package var goals: [Goal] {
        switch self {
        case .insert: [.timesBest(1.5)]
        case .insertBytes: [.figure(85)]
        case .insertMemory: [.figure(200)]
        case .serial: [.ofLimit(0.9), .timesPeer("sqlite", 1)]
        case .serialAsync: [.ofLimit(0.88), .timesPeer("sqlite", 1)]
        case .attached, .observed: [.ofLimit(0.85)]
        case .commitBytes: [.figure(8_192)]
        case .serialTail: [.timesOwn(.tailWithoutCheckpoints, 1.5)]
        case .tasks: [.ofLimit(15)]
        case .noSync, .noSyncAsync, .readBesideWriter, .writeBesideReader, .processes: [.timesPeer("lmdb", 1)]
        case .lookup: [.timesBest(2)]
        case .sumObjects, .openWarm, .openCold, .freeze, .forward: [.timesBest(1)]
        case .sumEngine: [.ofLimit(1.5)]
        case .countFirst, .sort, .back: [.timesBest(4)]
        case .countAnd, .countEqual, .countName, .countPrefix, .countContains, .sortLimited: [.timesBest(10)]
        case .findByIndex: [.timesBest(1 / 0.6)]
        case .update, .delete, .deleteByQuery: [.timesBest(1.5)]
        case .updateGrowth: [.figure(2)]
        case .updatePeak: [.timesBest(1)]
        case .notify: [.ofLimit(5), .timesBest(2)]
        case .notifyTail: [.ofLimit(15)]
        case .observerMemory: [.figure(4_096)]
        case .writeBesideOne, .writeBesideObservers: [.figure(95)]
        case .writeBeside10k: [.figure(90)]
        case .read: [.ofLimit(2)]
        case .openKilled: [.figure(1_000)]
        case .blocked: [.figure(0.5)]
        case .twoFlushes, .serialMedian, .serialPercentile99, .serialLongest, .tailWithoutCheckpoints, .writableMap,
            .notifyValues, .notifyOneOf100, .notifyAll100, .notifyProcess, .notifyProcessTail, .writeBeside100,
            .notifyOneOf10k, .notifyLarge, .notifyLargeTail, .observerMemoryLarge, .blockedMedian, .insertScattered,
            .insertDocuments, .churnedBytes, .lookupScattered, .lookupDocuments, .lookupChurned, .sumChurned,
            .countChurned, .readMemory, .updateDocuments:
            []
        }
    }
}
