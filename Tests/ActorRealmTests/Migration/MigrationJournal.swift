import ActorRealm
import Synchronization

/// What a realm has logged.
final class MigrationJournal: Sendable {
    private let texts = Mutex<[String]>([])

    /// All lines with a level, in order.
    var lines: [String] { texts.withLock { $0 } }

    /// The lines of a level; `info` of swift-log is `detail` here.
    func lines(_ level: LogLevel) -> [String] { lines.filter { $0.hasPrefix("\(level): ") } }

    /// A logger that writes here.
    var logger: Logger {
        Logger(level: .detail) { level, message in self.texts.withLock { $0.append("\(level): \(message)") } }
    }
}
