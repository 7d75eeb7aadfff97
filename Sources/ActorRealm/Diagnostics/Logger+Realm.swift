public import Logging
import Synchronization

/// What receives the library's messages: `Logging.Logger`, with what RealmSwift's logger has beside.
public typealias Logger = Logging.Logger

extension Logger {
    private static let sharedLogger = Mutex<Logger?>(nil)

    /// The logger of realms whose configuration names none.
    ///
    /// Until the program sets it, it is swift-log's logger with the label `realm`, and says warnings and errors only. That goes where
    /// `LoggingSystem.bootstrap` sends it, or else to the standard error; call that before the first realm is opened.
    ///
    /// ```swift
    /// Logger.shared.level = .error
    /// Logger.shared = Logger(level: .info) { level, message in print(level, message) }
    /// ```
    public static var shared: Logger {
        get { sharedLogger.withLock { $0 } ?? standard }
        set { sharedLogger.withLock { $0 = newValue } }
    }

    /// That of a program that has set none.
    private static let standard: Logger = {
        var logger = Logger(label: "realm")
        logger.logLevel = .warning
        return logger
    }()

    /// Makes a logger that calls a function with each message up to a level.
    public init(level: LogLevel, logFunction: @escaping @Sendable (_ level: LogLevel, _ message: String) -> Void) {
        self.init(label: "realm") { _ in FunctionLogHandler(level: level, logFunction) }
    }

    /// How much the logger says.
    public var level: LogLevel {
        get { (handler as? FunctionLogHandler)?.level ?? LogLevel(logLevel) }
        set {
            if var own = handler as? FunctionLogHandler {
                own.level = newValue
                handler = own
            } else {
                logLevel = newValue.lowestMessageLevel
            }
        }
    }
}
