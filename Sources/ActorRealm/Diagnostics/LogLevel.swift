import Logging

/// How much a logger says: a level includes those before it.
///
/// The names are RealmSwift's; `Logging.Logger.Level` has fewer.
public enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    /// Nothing.
    case off = 0
    /// What ends the process.
    case fatal
    /// What failed.
    case error
    /// What went on, but should be looked at.
    case warn
    /// What is worth knowing.
    case info
    /// More of that.
    case detail
    /// What helps to find a fault.
    case debug
    /// Every step.
    case trace
    /// Everything.
    case all

    /// Whether a level says less than another.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

    /// The level of a message.
    init(_ level: Logging.Logger.Level) {
        self =
            switch level {
            case .trace: .trace
            case .debug: .debug
            case .info: .detail
            case .notice: .info
            case .warning: .warn
            case .error: .error
            case .critical: .fatal
            }
    }

    /// The least level of messages that are let through; there is none when nothing is.
    var lowestMessageLevel: Logging.Logger.Level {
        switch self {
        case .off, .fatal: .critical
        case .error: .error
        case .warn: .warning
        case .info: .notice
        case .detail: .info
        case .debug: .debug
        case .trace, .all: .trace
        }
    }
}
