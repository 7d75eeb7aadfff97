import Foundation
import Logging

/// Hands messages to a function: what stands behind a logger made with a level and a function.
struct FunctionLogHandler: LogHandler {
    /// How much is let through.
    var level: LogLevel
    var metadata: Logger.Metadata = [:]
    private let function: @Sendable (LogLevel, String) -> Void

    init(level: LogLevel, _ function: @escaping @Sendable (LogLevel, String) -> Void) {
        self.level = level
        self.function = function
    }

    var logLevel: Logger.Level {
        get { level.lowestMessageLevel }
        set { level = LogLevel(newValue) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let messageLevel = LogLevel(event.level)
        guard messageLevel <= level else { return }
        var text = event.message.description
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        if !all.isEmpty {
            text += " [" + all.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
        }
        function(messageLevel, text)
    }

    /// Where messages go when only a level was set.
    static let printToStandardError: @Sendable (LogLevel, String) -> Void = { level, message in
        FileHandle.standardError.write(Data("realm \(level): \(message)\n".utf8))
    }
}
