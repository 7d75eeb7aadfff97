public import Logging
import Synchronization

/// What receives the library's messages: `Logging.Logger`, with what RealmSwift's logger has beside.
public typealias Logger = Logging.Logger

extension Logger {
    private static let sharedLogger = Mutex<Logger?>(nil)

    /// The logger of realms whose configuration names none.
    ///
    /// Nothing is said until the program sets it, or its level; then messages go to the standard error unless it is a
    /// logger of the program's own.
    ///
    /// ```swift
    /// Logger.shared.level = .warn
    /// Logger.shared = Logger(level: .info) { level, message in print(level, message) }
    /// ```
    public static var shared: Logger {
        get {
            sharedLogger.withLock { $0 } ?? Logger(level: .off, logFunction: FunctionLogHandler.printToStandardError)
        }
        set { sharedLogger.withLock { $0 = newValue } }
    }

    /// The shared logger once the program has set it.
    static var sharedIfSet: Logger? { sharedLogger.withLock { $0 } }

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
