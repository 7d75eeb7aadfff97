/// A row of the table in which engines are compared.
package enum RowIdentifier: String, CaseIterable, Sendable {
    case insert = "W1.insert"
    case insertBytes = "W1.bytes"
    case insertMemory = "W1.memory"
    case insertScattered = "W1.random"
    case insertDocuments = "W1.kilobyte"
    case churnedBytes = "W1.churned"
    case serial = "W2.serial"
    case twoFlushes = "W2.two_flushes"
    case tasks = "W2.tasks64"
    case commitBytes = "W2.bytes"
    case serialAsync = "W2.serialAsync"
    case attached = "W2.attached"
    case observed = "W2.observed"
    case serialMedian = "W2.p50"
    case serialPercentile99 = "W2.p99"
    case serialTail = "W2.p999"
    case serialLongest = "W2.max"
    case tailWithoutCheckpoints = "W2.p999_bare"
    case noSync = "W2.nosync"
    case noSyncAsync = "W2.nosyncAsync"
    case writableMap = "W2.writemap"
    case lookup = "W3.lookup"
    case lookupScattered = "W3.random"
    case lookupDocuments = "W3.kilobyte"
    case lookupChurned = "W3.churned"
    case sumObjects = "W4.objects"
    case sumEngine = "W4.sum"
    case sumChurned = "W4.churned"
    case countFirst = "W5.first"
    case countAnd = "W5.and"
    case countEqual = "W5.eq"
    case countName = "W5.string_eq"
    case countPrefix = "W5.prefix"
    case countContains = "W5.contains"
    case countChurned = "W5.churned"
    case readMemory = "W5.memory"
    case findByIndex = "W6.index"
    case sort = "W7.sort"
    case sortLimited = "W7.limit"
    case update = "W8.update"
    case updateGrowth = "W8.growth"
    case updatePeak = "W8.peak"
    case updateDocuments = "W8.kilobyte"
    case delete = "W9.delete"
    case deleteByQuery = "W9.query"
    case openWarm = "W10.warm"
    case openCold = "W10.cold"
    case openKilled = "W10.killed"
    case readBesideWriter = "W11.reader"
    case writeBesideReader = "W11.writer"
    case notify = "W12.notify"
    case notifyTail = "W12.p99"
    case notifyValues = "W12.values"
    case notifyOneOf100 = "W12.observers100"
    case notifyAll100 = "W12.all100"
    case notifyProcess = "W12.process"
    case notifyProcessTail = "W12.process_p99"
    case observerMemory = "W12.memory"
    case writeBesideOne = "W12.writer1"
    case writeBeside100 = "W12.writer100"
    case writeBesideObservers = "W12.writer1000"
    case writeBeside10k = "W12.writer10k"
    case notifyOneOf10k = "W12.observers10k"
    case notifyLarge = "W12.rows10m"
    case notifyLargeTail = "W12.rows10m_p99"
    case observerMemoryLarge = "W12.memory10m"
    case freeze = "W13.freeze"
    case processes = "W14.processes"
    case forward = "W15.forward"
    case back = "W15.back"
    case read = "W16.read"
    case blocked = "W17.blocked"
    case blockedMedian = "W17.median"

    /// What is said of a row: what is measured, in which unit, and what is asked of us.
    private var entry: (title: String, unit: String, better: Better) {
        switch self {
        case .insert: ("insert all objects in one durable transaction", "objects/s", .higher)
        case .insertBytes: ("bytes per object in the file", "bytes", .lower)
        case .insertMemory: ("peak memory of a process that does that, mapped pages included", "MiB", .lower)
        case .insertScattered: ("as W1.insert with keys in no order", "objects/s", .higher)
        case .insertDocuments: ("insert objects of 1 KB in one durable transaction", "objects/s", .higher)
        case .churnedBytes:
            ("bytes per object after 50 transactions that replace half of the objects, in no order", "bytes", .lower)
        case .serial: ("durable commits of one insert, one after the other", "commits/s", .higher)
        case .twoFlushes: ("the limit with two flushes for each", "commits/s", .higher)
        case .tasks:
            (
                "durable commits of one insert from 64 tasks at once; peers: inserts, 64 in a transaction", "commits/s",
                .higher
            )
        case .commitBytes: ("bytes written by a durable commit", "bytes", .lower)
        case .serialAsync: ("as W2.serial with `asyncWrite`; peers as there", "commits/s", .higher)
        case .attached:
            ("as W2.serial beside a process that has the file open and refreshes every 10 ms", "commits/s", .higher)
        case .observed: ("as W2.serial beside an observer in this process", "commits/s", .higher)
        case .serialMedian: ("median of a durable commit within 60 s", "us", .lower)
        case .serialPercentile99: ("99th percentile of a durable commit within 60 s", "us", .lower)
        case .serialTail: ("99.9th percentile of a durable commit within 60 s", "us", .lower)
        case .serialLongest: ("longest durable commit within 60 s", "us", .lower)
        case .tailWithoutCheckpoints:
            ("as W2.p999 in a log of 1 GiB, without a checkpoint, until half of it is full", "us", .lower)
        case .noSyncAsync: ("as W2.nosync with `asyncWrite`; peers as there", "commits/s", .higher)
        case .writableMap:
            ("as W2.nosync with LMDB's writable map, where a stray pointer can damage the file", "commits/s", .higher)
        case .noSync: ("commits of one insert without a flush", "commits/s", .higher)
        case .lookup: ("look up by primary key and read two properties", "ns", .lower)
        case .lookupScattered: ("as W3.lookup where keys are in no order", "ns", .lower)
        case .lookupDocuments: ("look up objects of 1 KB and read all of each", "ns", .lower)
        case .lookupChurned: ("as W3.lookup in the file of W1.churned", "ns", .lower)
        case .sumObjects: ("sum of an Int property over live objects", "ns/object", .lower)
        case .sumEngine: ("the same by the engine, `sum(of:)`", "ms", .lower)
        case .sumChurned: ("as W4.objects in the file of W1.churned", "ns/object", .lower)
        case .countChurned: ("as W5.eq in the file of W1.churned", "ms", .lower)
        case .readMemory:
            ("peak memory of a process that looks up, counts and adds up, mapped pages included", "MiB", .lower)
        case .countFirst: ("the first count age == 33 of a file just opened, in the page cache", "ms", .lower)
        case .countAnd: ("count age 30..<40 and score > 0.5", "ms", .lower)
        case .countEqual: ("count age == 33", "ms", .lower)
        case .countName: ("count name == a text", "ms", .lower)
        case .countPrefix: ("count name begins with a text", "ms", .lower)
        case .countContains: ("count name contains a text (ours on all processors, peers on one)", "ms", .lower)
        case .findByIndex: ("find by email through the index", "ns", .lower)
        case .sort: ("sort by age and score, read the first 1,000 (LMDB: by hand)", "ms", .lower)
        case .sortLimited: ("the same with a limit of 1,000", "ms", .lower)
        case .update: ("change an Int of 100,000 random objects in one transaction", "objects/s", .higher)
        case .updateDocuments: ("change an Int of objects of 1 KB in one transaction", "objects/s", .higher)
        case .updateGrowth: ("growth of the file by that, closed", "MiB", .lower)
        case .updatePeak: ("the same with all files, before it is closed", "MiB", .lower)
        case .delete: ("delete 100,000 random objects in one transaction", "objects/s", .higher)
        case .deleteByQuery: ("delete a tenth of all by a query", "objects/s", .higher)
        case .openWarm: ("open and read one object, in the page cache", "us", .lower)
        case .openCold: ("open and read one object, from the device", "us", .lower)
        case .openKilled: ("open and read one object behind a kill, with a full log", "ms", .lower)
        case .readBesideWriter: ("point reads beside a busy writer, of those alone", "%", .higher)
        case .writeBesideReader: ("commits beside a busy reader, without a flush", "commits/s", .higher)
        case .notify:
            ("commit returned to fine-grained change delivered, 100k rows observed (median)", "us", .lower)
        case .notifyTail: ("the same, 99th percentile", "us", .lower)
        case .notifyValues: ("the same by an observation that fetches all records again", "us", .lower)
        case .notifyOneOf100:
            ("the same with 100 observers of 1,000 rows each, to the one that it concerns", "us", .lower)
        case .notifyAll100: ("the same with 100 observers on 100 actors, until all have it", "us", .lower)
        case .notifyProcess:
            ("commit of another process returned to change delivered here (median)", "us", .lower)
        case .notifyProcessTail: ("the same, 99th percentile", "us", .lower)
        case .observerMemory: ("memory of an observer, 10,000 of them, 10 rows each", "bytes", .lower)
        case .writeBesideOne: ("commits beside one observer, of those without any, without a flush", "%", .higher)
        case .writeBeside100: ("the same beside 100 observers of 1,000 rows each", "%", .higher)
        case .writeBeside10k: ("the same beside 10,000 observers of 10 rows each", "%", .higher)
        case .writeBesideObservers:
            ("commits beside 1,000 observers, of those without any, without a flush", "%", .higher)
        case .notifyOneOf10k:
            ("as W12.notify with 10,000 observers of 10 rows each, to the one concerned", "us", .lower)
        case .notifyLarge: ("as W12.notify, 5 of 10 million rows match", "us", .lower)
        case .notifyLargeTail: ("the same, 99th percentile", "us", .lower)
        case .observerMemoryLarge: ("memory of that observer", "MiB", .lower)
        case .freeze: ("freeze a new version, or begin to read it, and read one property", "us", .lower)
        case .processes: ("commits of two processes at once, without a flush", "commits/s", .higher)
        case .forward: ("read a property of a linked object, 300k dogs", "ns/dog", .lower)
        case .back: ("read the objects that link here, 300k dogs", "ns/dog", .lower)
        case .read: ("read an Int property of a live object", "ns", .lower)
        case .blocked: ("longest block of an actor by 100 writes that wait for the lock", "ms", .lower)
        case .blockedMedian: ("the same, median of the writes", "ms", .lower)
        }
    }

    private enum Better {
        case higher
        case lower
    }

    /// What is measured, in a few words.
    package var title: String { entry.title }

    package var unit: String { entry.unit }

    package var isHigherBetter: Bool { entry.better == .higher }

    /// Whether what is called the limit cannot be beaten; else it is a yardstick only.
    package var isLimited: Bool {
        switch self {
        // Tasks share flushes, and the loop has one for each.
        case .tasks: false
        // What the device does now and then it does to one and not to the other.
        case .serialPercentile99, .serialTail, .serialLongest: false
        // A check of our own may be cheaper than the runtime's.
        case .read: false
        default: true
        }
    }

    /// The row whose measurement leaves this row's figure; the row itself where the measurement is its own.
    package var source: RowIdentifier {
        switch self {
        case .insertBytes: .insert
        case .lookupScattered: .insertScattered
        case .lookupDocuments, .updateDocuments: .insertDocuments
        case .commitBytes: .serial
        case .serialPercentile99, .serialTail, .serialLongest: .serialMedian
        case .updateGrowth, .updatePeak: .update
        case .writeBesideReader: .readBesideWriter
        case .notifyTail: .notify
        case .notifyProcessTail: .notifyProcess
        case .notifyLargeTail, .observerMemoryLarge: .notifyLarge
        case .blockedMedian: .blocked
        default: self
        }
    }

    /// Whether a row takes minutes or gigabytes, and is measured only when that is asked for.
    package var isHeavy: Bool {
        switch self {
        case .serialMedian, .serialPercentile99, .serialTail, .serialLongest, .tailWithoutCheckpoints, .openKilled,
            .notifyOneOf10k, .writeBeside10k, .notifyLarge, .notifyLargeTail, .observerMemoryLarge:
            true
        default: false
        }
    }

    /// Whether a row is about a log, and there is nothing to measure without one.
    package var needsLog: Bool {
        switch self {
        case .tailWithoutCheckpoints, .openKilled: true
        default: false
        }
    }

    /// The rows that a list such as `W1,W2.serial` names; heavy ones by their own name, or on request.
    package static func rows(named list: String?, heavy: Bool) -> [RowIdentifier] {
        let names = list?.split(separator: ",").map(String.init)
        return allCases.filter { row in
            if names?.contains(row.rawValue) == true { return true }
            let isNamed = names.map { $0.contains { row.rawValue.hasPrefix($0 + ".") } } ?? true
            return isNamed && (heavy || !row.isHeavy)
        }
    }
}
