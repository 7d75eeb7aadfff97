import Foundation

/// What a process of an exit test says on its standard error, kept where the test finds it also when the process was to go on and
/// did not.
public struct ChildReport: Sendable, Codable {
    private let path: String

    /// Names a place for it.
    public init() {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("child-\(UUID().uuidString)").path
    }

    /// Called first in the process: what it says goes to the report.
    public func begin() {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        dup2(file, 2)
        close(file)
    }

    /// The end of what the process said; the report is gone then.
    public func take() -> String {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let text = (try? Data(contentsOf: URL(fileURLWithPath: path))).map { String(decoding: $0, as: UTF8.self) } ?? ""
        // The frames of a stack are of no use here.
        let lines = text.split(separator: "\n").filter { $0.firstMatch(of: /^ *[0-9]+ +/) == nil }
        return lines.suffix(8).joined(separator: "\n")
    }
}
