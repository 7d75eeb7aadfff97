/// A row of the table in which engines are compared.
enum RowIdentifier: String, CaseIterable, Sendable {
    case insert = "W1.insert"
    case insertBytes = "W1.bytes"
    case serial = "W2.serial"
    case tasks = "W2.tasks64"
    case commitBytes = "W2.bytes"
    case lookup = "W3.lookup"
    case sumObjects = "W4.objects"
    case sumEngine = "W4.sum"
    case notify = "W12.notify"
    case read = "W16.read"

    /// What is measured, in a few words.
    var title: String {
        switch self {
        case .insert: "insert all objects in one durable transaction"
        case .insertBytes: "bytes per object in the file"
        case .serial: "durable commits of one insert, one after the other"
        case .tasks: "the same from 64 tasks at once"
        case .commitBytes: "bytes written by such a commit"
        case .lookup: "look up by primary key and read two properties"
        case .sumObjects: "sum of an Int property over live objects"
        case .sumEngine: "the same by the engine, `sum(of:)`"
        case .notify: "commit returned to fine-grained change delivered, 100k rows observed (median)"
        case .read: "read an Int property of a live object"
        }
    }

    var unit: String {
        switch self {
        case .insert: "objects/s"
        case .insertBytes: "bytes"
        case .serial, .tasks: "commits/s"
        case .commitBytes: "bytes"
        case .lookup, .read: "ns"
        case .sumObjects: "ns/object"
        case .sumEngine: "ms"
        case .notify: "us"
        }
    }

    var isHigherBetter: Bool {
        switch self {
        case .insert, .serial, .tasks: true
        default: false
        }
    }

    /// What is asked of us, given the raw limit measured in the same run.
    func target(limit: Double?) -> Double? {
        switch self {
        case .insert: 500_000
        case .insertBytes: 100
        case .serial: limit.map { $0 * 0.8 }
        case .tasks: limit.map { $0 * 20 }
        case .commitBytes: 40_000
        case .lookup: 600
        case .sumObjects: 15
        case .sumEngine: 1.5
        case .notify: 150
        case .read: 8
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
