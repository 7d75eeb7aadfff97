import Foundation

// extract-snippets OUTPUT INPUT ...: writes the code that the inputs show as one Swift file.
let arguments = CommandLine.arguments.dropFirst()
guard let output = arguments.first, arguments.count > 1 else {
    FileHandle.standardError.write(Data("usage: extract-snippets OUTPUT INPUT ...\n".utf8))
    exit(2)
}
var snippets: [Snippet] = []
for path in arguments.dropFirst() {
    snippets += SnippetReader.snippets(in: try String(contentsOfFile: path, encoding: .utf8), path: path)
}
try SnippetWriter.source(of: snippets).write(toFile: output, atomically: true, encoding: .utf8)
