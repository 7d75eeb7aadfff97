import Foundation
import Testing

/// What ends the process on names, values and positions that are wrong says so in its documentation, with what throws instead or tells.
@Suite("The documentation of what ends the process names what throws or tells")
struct TrapDocumentationTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Looked for once: that takes a while.
    private static let found = Result {
        let folder = root.appendingPathComponent("Sources/ActorRealm")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .flatMap(PublicDeclaration.all)
            .filter { !$0.canThrow && !$0.name.hasPrefix("_") }
    }

    private static func declarations() throws -> [PublicDeclaration] { try found.get() }

    /// What ends the process for what its caller was given, and is called by functions that cannot throw.
    ///
    /// Not those that do so for a use from another isolation, which every function has, or for damage.
    private static let traps = [
        "misuse(", "mistake(", "refuse(", "refuseIndex(", "indexOutOfBounds(", "_element(at:", "stored(at:",
        "checkRange(",
        "hasElements(", "check(index", "managed(\"", "position(matching:", "aggregate(.minimum, property)",
        "aggregate(.maximum, property)", "aggregate(.sum, property)", "aggregate(.average, property)", "canWrite(",
        "delete(managed:", "accessorToCreate(", "createDynamic(", "requiredAccessor(", "requiredDynamicAccessor(",
        "requiredProperty(", "dynamicPlace(", "ValueReader.assign(", "ReferenceContent(to:", "ThreadSafe.target(",
        "takeOnce(",
        "Detacher()", "frozenThroughReference(", "thawedThroughReference(", "thawedInContext(",
        "requireCallbackWrites(",
        "checkObservable(", "observationSource(", "projectionSource(", "_observation(", "source.observation(",
        "noSortDescriptor(", ".writer(",
    ]

    @Test("Each public function that calls what ends the process has a precondition")
    func calls() throws {
        var used: Set<String> = []
        var count = 0
        for declaration in try Self.declarations() {
            let words = Self.traps.filter { declaration.body.contains($0) }
            if words.isEmpty { continue }
            used.formUnion(words)
            count += 1
            #expect(declaration.precondition != nil, "\(declaration.description) calls \(words)")
        }
        #expect(used == Set(Self.traps), "A word that nothing has is to go.")
        #expect(count > 120)
    }

    /// What has a precondition wherever it is declared: it hands on to what ends the process, often by a name of its own.
    private static let everywhere: Set<String> = [
        "add", "beginAsyncWrite", "changes", "commitAsyncWrite", "delete", "deleteAll", "detached", "distinct",
        "freeze", "frozen",
        "limit", "observe", "sectioned", "setValue", "sorted", "thaw", "where", "writeAsync",
    ]

    @Test("Functions that end the process whatever they belong to have a precondition everywhere")
    func everywhere() throws {
        let declarations = try Self.declarations().filter { Self.everywhere.contains($0.name) }
        // What is wrong in a migration, opening the realm throws.
        for declaration in declarations where declaration.file != "Migration.swift" {
            #expect(declaration.precondition != nil, "\(declaration.description)")
        }
        #expect(Set(declarations.map(\.name)) == Self.everywhere)
    }

    @Test("Each precondition names in code what throws instead, or what tells before")
    func ways() throws {
        let found = try Self.declarations().filter { $0.precondition != nil }
        for declaration in found {
            let text = declaration.precondition ?? ""
            #expect(text.contains(/`\w/), "\(declaration.description): \(text)")
            // A property that tells is enough for what the program does itself.
            if text.contains("from outside") {
                #expect(text.contains(/throw|has no dot in it/), "\(declaration.description): \(text)")
            }
        }
        #expect(found.count > 200)
    }

    @Test("The documentation of each function in the list says what must hold")
    func list() throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent("Docs/Traps.md"), encoding: .utf8)
        let list = try #require(text.components(separatedBy: "## Functions").last?.components(separatedBy: "## ").first)
        let files = Dictionary(grouping: try Self.declarations(), by: \.file)
        var listed: Set<String> = []
        for row in list.matches(of: /\| `(\S+\.swift)` \| (.+) \|/) {
            let file = String(row.1)
            for name in row.2.matches(of: /`(\w+)(?:\((\w+):\))?`/) {
                let declared = (files[file] ?? [])
                    .filter { declaration in
                        guard declaration.name == name.1 else { return false }
                        return name.2.map { declaration.hasLabel(String($0)) } ?? true
                    }
                #expect(!declared.isEmpty, "\(file) declares no \(name.0)")
                for declaration in declared {
                    listed.insert("\(file):\(declaration.line)")
                    #expect(declaration.precondition != nil, "\(declaration.description)")
                }
            }
        }
        for declaration in try Self.declarations() where declaration.precondition != nil {
            #expect(
                listed.contains("\(declaration.file):\(declaration.line)"),
                "\(declaration.description) is not in the list"
            )
        }
        #expect(listed.count > 200)
    }
}
