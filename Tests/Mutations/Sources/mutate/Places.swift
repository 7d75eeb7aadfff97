import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Lists every place of the library's sources where a change of meaning can stand, a JSON object a line.
///
///     mutate FOLDER
///
/// FOLDER holds `Sources`. The order is that of the files' names and of the places in them.
@main
struct Places {
    private static let targets = ["RealmStorage", "RealmModel", "RealmQuery", "ActorRealm"]

    static func main() throws {
        guard CommandLine.arguments.count == 2 else {
            FileHandle.standardError.write(Data("usage: mutate FOLDER\n".utf8))
            exit(2)
        }
        let root = URL(fileURLWithPath: CommandLine.arguments[1])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for target in targets {
            let folder = root.appending(path: "Sources/\(target)")
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            for name in names.filter({ $0.hasSuffix(".swift") }).sorted() {
                for mutation in try places(in: "Sources/\(target)/\(name)", of: root) {
                    print(String(decoding: try encoder.encode(mutation), as: UTF8.self))
                }
            }
        }
    }

    private static func places(in file: String, of root: URL) throws -> [Mutation] {
        let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
        let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: text)) { _ in }
        let finder = MutationFinder(file: file, converter: SourceLocationConverter(fileName: file, tree: tree))
        finder.walk(tree)
        // The same text may stand in a file several times; its number among them names the place when lines move.
        var counts: [String: Int] = [:]
        return finder.found.map { mutation in
            var mutation = mutation
            counts["\(mutation.kind) \(mutation.before)", default: 0] += 1
            mutation.occurrence = counts["\(mutation.kind) \(mutation.before)"]!
            return mutation
        }
    }
}
