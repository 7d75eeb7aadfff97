import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// Puts changes of meaning into a copy of the sources, each behind a switch, and lists them.
///
///     mutate FOLDER SEED COUNT [NUMBER ...]
///
/// FOLDER is the copy, which is changed. The same seed chooses the same places. The numbers are those of mutations to leave
/// out: what the compiler did not take. The list goes to standard output, a JSON object a line.
@main
struct Mutate {
    private static let targets = ["RealmStorage", "RealmModel", "RealmQuery", "ActorRealm"]

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4, let seed = UInt64(arguments[2]), let count = Int(arguments[3]) else {
            FileHandle.standardError.write(Data("usage: mutate FOLDER SEED COUNT [NUMBER ...]\n".utf8))
            exit(2)
        }
        let root = URL(fileURLWithPath: arguments[1])
        let leftOut = Set(arguments.dropFirst(4).compactMap(Int.init))
        var generator = SplitMix(state: seed)
        var chosen: [Mutation] = []
        for target in targets {
            let places = try places(in: target, of: root).shuffled(using: &generator)
            var taken: [String: [Range<Int>]] = [:]
            var left = count / targets.count
            for place in places where left > 0 {
                let range = place.start..<place.end
                // One inside another would ask two switches.
                if taken[place.file, default: []].contains(where: { $0.overlaps(range) }) { continue }
                taken[place.file, default: []].append(range)
                var place = place
                place.number = chosen.count + 1
                chosen.append(place)
                left -= 1
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for mutation in chosen where !leftOut.contains(mutation.number) {
            print(String(decoding: try encoder.encode(mutation), as: UTF8.self))
        }
        let kept = chosen.filter { !leftOut.contains($0.number) }
        for (file, mutations) in Dictionary(grouping: kept, by: \.file) {
            try write(mutations, to: root.appending(path: file))
        }
    }

    private static func places(in target: String, of root: URL) throws -> [Mutation] {
        let folder = root.appending(path: "Sources/\(target)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try names.sorted()
            .flatMap { name -> [Mutation] in
                let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: text)) { _ in }
                let path = "Sources/\(target)/\(name)"
                let finder = MutationFinder(file: path, converter: SourceLocationConverter(fileName: path, tree: tree))
                finder.walk(tree)
                return finder.found
            }
    }

    private static func write(_ mutations: [Mutation], to file: URL) throws {
        var bytes = Array(try Data(contentsOf: file))
        for mutation in mutations.sorted(by: { $0.start > $1.start }) {
            bytes.replaceSubrange(mutation.start..<mutation.end, with: Array(mutation.replacement.utf8))
        }
        var text = String(decoding: bytes, as: UTF8.self)
        if !text.contains("import CRealmShims") { text = "import CRealmShims\n" + text }
        try Data(text.utf8).write(to: file)
    }
}

/// Repeats for a seed, on every machine.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
