/// A row of the table in which engines are compared.
enum RowIdentifier: String, CaseIterable, Sendable {
    case insert = "W1.insert"
    case insertBytes = "W1.bytes"
    case serial = "W2.serial"
    case twoFlushes = "W2.two_flushes"
    case tasks = "W2.tasks64"
    case commitBytes = "W2.bytes"
    case noSync = "W2.nosync"
    case lookup = "W3.lookup"
    case sumObjects = "W4.objects"
    case sumEngine = "W4.sum"
    case countAnd = "W5.and"
    case countEqual = "W5.eq"
    case countName = "W5.string_eq"
    case countPrefix = "W5.prefix"
    case countContains = "W5.contains"
    case findByIndex = "W6.index"
    case sort = "W7.sort"
    case sortLimited = "W7.limit"
    case update = "W8.update"
    case updateGrowth = "W8.growth"
    case delete = "W9.delete"
    case deleteByQuery = "W9.query"
    case openWarm = "W10.warm"
    case openCold = "W10.cold"
    case readBesideWriter = "W11.reader"
    case writeBesideReader = "W11.writer"
    case notify = "W12.notify"
    case freeze = "W13.freeze"
    case processes = "W14.processes"
    case forward = "W15.forward"
    case back = "W15.back"
    case read = "W16.read"
    case blocked = "W17.blocked"

    /// What is said of a row: what is measured, in which unit, and what is asked of us.
    private var entry: (title: String, unit: String, target: Target) {
        switch self {
        case .insert: ("insert all objects in one durable transaction", "objects/s", .atLeast(500_000))
        case .insertBytes: ("bytes per object in the file", "bytes", .atMost(100))
        case .serial: ("durable commits of one insert, one after the other", "commits/s", .ofLimit(0.8))
        case .twoFlushes: ("the limit with two flushes for each", "commits/s", .none)
        case .tasks: ("durable commits of one insert from 64 tasks at once", "commits/s", .ofLimit(20))
        case .commitBytes: ("bytes written by a durable commit", "bytes", .atMost(40_000))
        case .noSync: ("commits of one insert without a flush", "commits/s", .atLeast(50_000))
        case .lookup: ("look up by primary key and read two properties", "ns", .atMost(600))
        case .sumObjects: ("sum of an Int property over live objects", "ns/object", .atMost(15))
        case .sumEngine: ("the same by the engine, `sum(of:)`", "ms", .atMost(1.5))
        case .countAnd: ("count age 30..<40 and score > 0.5", "ms", .atMost(4))
        case .countEqual: ("count age == 33", "ms", .atMost(1))
        case .countName: ("count name == a text", "ms", .atMost(5))
        case .countPrefix: ("count name begins with a text", "ms", .atMost(5))
        case .countContains: ("count name contains a text", "ms", .atMost(20))
        case .findByIndex: ("find by email through the index", "ns", .atMost(1_200))
        case .sort: ("sort by age and score, read the first 1,000", "ms", .atMost(250))
        case .sortLimited: ("the same with a limit of 1,000", "ms", .atMost(35))
        case .update: ("change an Int of 100,000 random objects in one transaction", "objects/s", .atLeast(400_000))
        case .updateGrowth: ("growth of the file by that", "MiB", .atMost(30))
        case .delete: ("delete 100,000 random objects in one transaction", "objects/s", .atLeast(200_000))
        case .deleteByQuery: ("delete a tenth of all by a query", "objects/s", .atLeast(400_000))
        case .openWarm: ("open and read one object, in the page cache", "us", .atMost(200))
        case .openCold: ("open and read one object, from the device", "us", .atMost(2_000))
        case .readBesideWriter: ("point reads beside a busy writer, of those alone", "%", .atLeast(90))
        case .writeBesideReader: ("commits beside a busy reader, without a flush", "commits/s", .atLeast(40_000))
        case .notify:
            ("commit returned to fine-grained change delivered, 100k rows observed (median)", "us", .atMost(150))
        case .freeze: ("freeze a realm, or take a version for reading", "ns", .atMost(200))
        case .processes: ("commits of two processes at once, without a flush", "commits/s", .atLeast(30_000))
        case .forward: ("read a property of a linked object, 300k dogs", "ns/dog", .atMost(120))
        case .back: ("read the objects that link here, 300k dogs", "ns/dog", .atMost(140))
        case .read: ("read an Int property of a live object", "ns", .atMost(8))
        case .blocked: ("longest block of an actor that waits for the lock", "ms", .atMost(1))
        }
    }

    private enum Target {
        case none
        case atLeast(Double)
        case atMost(Double)
        case ofLimit(Double)
    }

    /// What is measured, in a few words.
    var title: String { entry.title }

    var unit: String { entry.unit }

    var isHigherBetter: Bool {
        switch entry.target {
        case .atMost: false
        case .none, .atLeast, .ofLimit: true
        }
    }

    /// What is asked of us, given the raw limit measured in the same run.
    func target(limit: Double?) -> Double? {
        switch entry.target {
        case .none: nil
        case .atLeast(let figure), .atMost(let figure): figure
        case .ofLimit(let share): limit.map { $0 * share }
        }
    }

    /// The rows that a list such as `W1,W2.serial` names.
    static func rows(named list: String?) -> [RowIdentifier] {
        guard let list else { return allCases }
        let names = list.split(separator: ",").map(String.init)
        return allCases.filter { row in
            names.contains { $0 == row.rawValue || row.rawValue.hasPrefix($0 + ".") }
        }
    }
}
