/// One change of meaning: a place in a source file, and what may stand there instead.
struct Mutation: Codable {
    var file: String
    var line: Int
    /// What is changed, in words of the language.
    var kind: String
    var before: String
    /// Empty for a statement that is left out.
    var after: String
    /// The number of this place among those of the file with the same text.
    var occurrence = 1
    /// Where the text stands, in bytes of UTF-8 from the start of the file.
    var start: Int
    var end: Int
}
