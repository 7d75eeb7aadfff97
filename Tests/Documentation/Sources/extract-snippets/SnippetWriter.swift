/// Writes snippets as methods of an actor in one Swift file, each with the place that it comes from, so that an error names that place.
package enum SnippetWriter {
    package static func source(of snippets: [Snippet]) -> String {
        var imports: Set<String> = [
            "import ActorRealm", "import AsyncAlgorithms", "import Dispatch", "import Foundation",
        ]
        var functions = ""
        for (index, snippet) in snippets.enumerated() {
            var body: [String] = []
            for line in snippet.code {
                if line.hasPrefix("import ") {
                    imports.insert(line)
                    body.append("")
                } else {
                    // An ellipsis stands for code that the reader has.
                    body.append(line.replacing("…", with: "/* … */"))
                }
            }
            functions += """
                extension Reader { func snippet\(index)() async throws {
                #sourceLocation(file: "\(snippet.path)", line: \(snippet.line))
                \(body.joined(separator: "\n"))
                #sourceLocation()
                } }


                """
        }
        return imports.sorted().joined(separator: "\n") + "\n\n" + functions
    }
}
