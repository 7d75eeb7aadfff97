/// A piece of Swift code that a page, a documentation comment or a message shows.
package struct Snippet: Equatable {
    /// The file that shows it.
    package var path: String
    /// The line of that file on which the code begins, from 1.
    package var line: Int
    package var code: [String]

    package init(path: String, line: Int, code: [String]) {
        self.path = path
        self.line = line
        self.code = code
    }
}
