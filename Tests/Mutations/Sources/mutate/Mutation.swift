/// One change of meaning: a place in a source file, and what stands there behind the switch.
struct Mutation: Codable {
    var number: Int
    var file: String
    var line: Int
    /// What is changed, in words of the language.
    var kind: String
    var before: String
    var after: String
    /// Where the text stands, in bytes of UTF-8 from the start of the file.
    var start: Int
    var end: Int

    /// The text that has both meanings and asks the switch.
    var replacement: String {
        kind == "statement"
            ? "if crealm_mutation_is(\(number)) {} else { \(before) }"
            : "(crealm_mutation_is(\(number)) ? \(after) : \(before))"
    }
}
