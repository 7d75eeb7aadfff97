import Foundation

/// The arguments of an example: named options with a value, flags, and the rest.
package struct CommandLineArguments {
    private var options: [String: String] = [:]
    private var flags: Set<String> = []

    /// What was given without a name, in order.
    package private(set) var positional: [String] = []

    /// Parses the arguments of this process, or says how the program is used and ends it.
    package init(
        options optionNames: Set<String>,
        flags flagNames: Set<String>,
        usage: String,
        arguments: [String] = Array(CommandLine.arguments.dropFirst())
    ) {
        var remaining = arguments[...]
        while let argument = remaining.popFirst() {
            if argument == "--help" || argument == "-h" {
                Console.line(usage)
                exit(0)
            } else if flagNames.contains(argument) {
                flags.insert(argument)
            } else if optionNames.contains(argument), let value = remaining.popFirst() {
                options[argument] = value
            } else if argument.hasPrefix("--") {
                Console.error("\(argument) is not an option, or lacks its value.\n\n\(usage)")
                exit(64)
            } else {
                positional.append(argument)
            }
        }
    }

    /// Whether the flag was given.
    package func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// The value given for an option.
    package subscript(option: String) -> String? { options[option] }

    /// The whole number given for an option; ends the program when it is something else.
    package func number(_ option: String) -> Int? {
        guard let text = options[option] else { return nil }
        guard let number = Int(text), number > 0 else {
            Console.error("\(option) takes a whole number above zero, not \"\(text)\".")
            exit(64)
        }
        return number
    }
}
