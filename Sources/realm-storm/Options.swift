import Foundation

/// How long, how many, and where.
struct Options: Sendable {
    var path = ""
    var processes = 4
    var actors = 100
    var tasks = 10_000
    var seconds = 5.0
    var seed = UInt64.random(in: 0..<(1 << 32))
    var isFlushed = true
    /// The number of this process; nil for the one that starts the others.
    var process: Int?
    /// How many transactions of blocking and suspending actors to time instead of the storm; nil for the storm.
    var mixed: Int?
    /// How many verdicts and traps of misuse to ask for instead of the storm; nil for the storm.
    var misuses: Int?
    var traps = 0
    /// The seed of the one misuse that this process is for.
    var trap: UInt64?
    /// Where to write what the misuse showed.
    var summary: String?

    init(_ arguments: [String]) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { Options.usage() }
            switch name {
            case "--path": path = value
            case "--processes": processes = Options.number(value)
            case "--actors": actors = Options.number(value)
            case "--tasks": tasks = Options.number(value)
            case "--seconds": seconds = Options.number(value)
            case "--seed": seed = Options.number(value)
            case "--flush": isFlushed = value == "yes"
            case "--process": process = Options.number(value)
            case "--mixed": mixed = Options.number(value)
            case "--misuse": misuses = Options.number(value)
            case "--traps": traps = Options.number(value)
            case "--summary": summary = value
            case "--trap": trap = Options.number(value)
            default: Options.usage()
            }
        }
    }

    /// The arguments that give a child process the same options.
    func arguments(ofProcess number: Int) -> [String] {
        [
            "--path", path, "--processes", "\(processes)", "--actors", "\(actors)", "--tasks", "\(tasks)", "--seconds",
            "\(seconds)", "--seed", "\(seed)", "--flush", isFlushed ? "yes" : "no", "--process", "\(number)",
        ]
    }

    private static func number<Number: LosslessStringConvertible>(_ text: String) -> Number {
        guard let number = Number(text) else { usage() }
        return number
    }

    private static func usage() -> Never {
        let text =
            "usage: realm-storm [--path FILE] [--processes 4] [--actors 100] [--tasks 10000] [--seconds 5] [--seed N] "
            + "[--flush yes|no]\n       realm-storm --misuse VERDICTS [--traps 0] [--seed N] [--summary FILE]\n"
            + "       realm-storm --mixed TRANSACTIONS [--flush yes|no]\n"
            + "ACTOR_REALM_LOG=off has commits made durable by their pages, and ACTOR_REALM_LOG=log by records with pages in each; "
            + "without it pages are made later.\n"
        FileHandle.standardError.write(Data(text.utf8))
        exit(2)
    }
}
