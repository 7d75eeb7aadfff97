import Figures
import Foundation

/// A build of this program, and with it of the library, that measures rows in a process of its own.
struct Build {
    /// Something that a build was asked for, and that it could not do.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// What it is called in messages.
    let name: String
    private let executable: String
    /// The files of this build stay here from one turn to the next.
    private let folder: String

    init(name: String, executable: String, folder: String) throws {
        self.name = name
        self.executable = executable
        self.folder = folder + "/" + name
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    }

    /// The executable of a path: the program itself, or that of a checkout in which it was built.
    static func executable(at path: String) throws -> String {
        let built = ".build/release/compare"
        for candidate in [path, "\(path)/Benchmarks/\(built)", "\(path)/\(built)"] {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: candidate, isDirectory: &isFolder), !isFolder.boolValue
            else { continue }
            return candidate
        }
        throw Failure(
            description: """
                There is no build at \(path). Name an executable of this program, or a checkout of the repository in which \
                "swift build -c release --package-path Benchmarks --product compare" has made one.
                """
        )
    }

    /// How its realms keep commits in this environment; nil for a build that knows no such setting.
    func logSetting() throws -> LogSetting? {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = ["--log-setting", "yes"]
        process.standardOutput = output
        // It says there that it does not know the option.
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let word = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return LogSetting(rawValue: word)
    }

    /// Measures rows once, in a new process.
    func measure(_ rows: [RowIdentifier], objectCount: Int) throws -> [RowIdentifier: Double] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: executable)
        let list = rows.map(\.rawValue).joined(separator: ",")
        process.arguments = ["--turn", list, "--objects", "\(objectCount)", "--folder", folder]
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw Failure(
                description: """
                    \(name) build could not measure \(list): it ended with status \(process.terminationStatus). If it is \
                    older than --against, build it with the Benchmarks folder of a newer checkout.
                    """
            )
        }
        return try Turn.figures(of: String(decoding: data, as: UTF8.self))
    }
}
