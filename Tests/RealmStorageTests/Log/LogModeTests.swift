import Glibc
import Testing

@testable import RealmStorage

@Suite("How commits are kept where nobody says so", .timeLimit(.minutes(60)))
struct LogModeTests {
    @Test("A word is off, log or ondemand; any other one is an error that names the three")
    func words() throws {
        #expect(try LogMode.named(nil) == .ondemand)
        #expect(try LogMode.named("") == .ondemand)
        #expect(LogMode.allCases.map(\.rawValue) == ["off", "log", "ondemand"])
        for mode in LogMode.allCases { #expect(try LogMode.named(mode.rawValue) == mode) }
        for word in ["on", "Log", "log ", "1"] {
            let error = #expect(throws: StorageError.self) { try LogMode.named(word) }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message.contains("\"\(word)\"") == true)
            #expect(error?.message.hasSuffix("one of: off, log, ondemand") == true)
        }
    }

    @Test("What the environment says when it is first asked is so until the process ends", arguments: LogMode.allCases)
    func environment(mode: LogMode) async {
        await #expect(processExitsWith: .success) { [word = mode.rawValue as String] in
            setenv(LogMode.variable, word, 1)
            // In a release build it counts only then.
            _ = try? LogMode.stated()
            let isOnDemand = LoggedFile.options().log?.pagesOnDemand
            #expect(isOnDemand == (word == "ondemand"))
            setenv(LogMode.variable, word == "off" ? "log" : "off", 1)
            let standard = LogMode.standard
            #expect(standard.rawValue == word)
            #expect(standard.keepsLog == (word != "off"))
        }
    }

    @Test("Without the variable there is a log with pages on demand, and with an unknown word, too")
    func unknown() async {
        await #expect(processExitsWith: .success) {
            unsetenv(LogMode.variable)
            let standard = LogMode.standard
            #expect(standard == .ondemand)
        }
        await #expect(processExitsWith: .success) {
            setenv(LogMode.variable, "sometimes", 1)
            let standard = LogMode.standard
            #expect(standard == .ondemand)
            let error = #expect(throws: StorageError.self) { try LogMode.stated() }
            #expect(error?.code == .invalidArgument)
        }
    }
}
