/// A piece of Swift code that a page, a documentation comment or a message shows.
struct Snippet: Equatable {
    /// The file that shows it.
    var path: String
    /// The line of that file on which the code begins, from 1.
    var line: Int
    var code: [String]
}
