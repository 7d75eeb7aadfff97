import Foundation
import Testing
import extract_snippets

/// What the messages of the library show is built, because it stands between backticks, where ``SnippetReader`` finds it.
@Suite("Messages show code where it is built")
struct MessageTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func sources() throws -> [(path: String, text: String)] {
        var found: [(path: String, text: String)] = []
        for module in ["ActorRealm", "RealmQuery", "RealmModel", "RealmStorage"] {
            let folder = root.appendingPathComponent("Sources/\(module)")
            let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
            for case let file as URL in files where file.pathExtension == "swift" {
                found.append(("\(module)/\(file.lastPathComponent)", try String(contentsOf: file, encoding: .utf8)))
            }
        }
        return found
    }

    /// Messages with names outside of backticks, and why they have them.
    private static let exceptions = [
        "Subqueries do not support AnyRealmValue subscripts": "RealmSwift's sentence, which programs compare",
        "Can not section Results with empty sortDescriptor parameter.": "RealmSwift's sentence, which programs compare",
        "Object is already managed by another Realm. Use create instead":
            "RealmSwift's sentence, which programs compare",
        "Attempting to modify a frozen object - call thaw on the Object":
            "RealmSwift's sentence, which programs compare",
        "inMemory settings": "a part of RealmSwift's sentence, which programs compare",
        "\tcolumnName = ": "a description of a schema, in the form of RealmSwift's",
        "Realm.Configuration {": "a description, in the form of RealmSwift's",
        "SortDescriptor(keyPath: ": "a description, in the form of RealmSwift's",
        "ProjectedCollection<": "a description, in the form of RealmSwift's",
        "SectionedResults<": "a description, in the form of RealmSwift's",
        "ResultsSection<": "a description, in the form of RealmSwift's",
    ]

    /// Names between backticks that others than the library declare.
    private static let foreign: Set<String> = ["Any", "UUID"]

    @Test("No message names a function or a property of the library outside of backticks")
    func nakedNames() throws {
        let sources = try Self.sources()
        var declared = DeclaredNames()
        for source in sources { declared.read(source.text) }
        var used: Set<String> = []
        for (path, text) in sources {
            for message in MessageReader.messages(in: text) {
                let names = NakedNames.names(in: message, declared)
                if names.isEmpty { continue }
                let text = String(message.text)
                let exception = Self.exceptions.keys
                    .first { text.drop { $0 == " " || $0 == "\n" }.hasPrefix($0) }
                if let exception { used.insert(exception) }
                #expect(exception != nil, "\(path):\(message.line) shows \(names) outside of backticks: \(text)")
            }
        }
        #expect(used == Set(Self.exceptions.keys), "An exception that nothing needs is to go.")
    }

    @Test("Every backtick has another one, and a name between them is one that the library declares")
    func names() throws {
        let sources = try Self.sources()
        var declared = DeclaredNames()
        for source in sources { declared.read(source.text) }
        var count = 0
        for (path, text) in sources {
            for message in MessageReader.messages(in: text) {
                guard let spans = message.spans else {
                    Issue.record("\(path):\(message.line) has a backtick without another one")
                    continue
                }
                for span in spans where !SnippetReader.isCode(span.code) && span.code.contains(where: \.isLetter) {
                    count += 1
                    #expect(
                        declared.contains(span.code) || Self.foreign.contains(span.code),
                        "\(path):\(span.line) names `\(span.code)`, which nothing is called"
                    )
                }
            }
        }
        #expect(count > 30)
    }

    @Test(
        "Code in prose is found by its form, and by the names that are declared",
        arguments: [
            ("Call close() first.", ["close(", "close"]), ("Look at isInvalidated.", ["isInvalidated"]),
            ("Write in realm.write { } only.", ["realm.write", "e {"]), ("Use the label on:)", ["on:)"]),
            ("Send a ThreadSafeReference there.", ["ThreadSafeReference"]), ("Mark it @Persisted.", ["@Persisted"]),
            ("Then call thaw on it.", ["thaw"]), ("Override _realmName in it.", ["_realmName"]),
        ]
    )
    func forms(text: String, names: [String]) {
        var declared = DeclaredNames()
        declared.read("public func thaw() -> Self {}\n  public func close() {}\n public struct ThreadSafeReference {}")
        let message = MessageReader.messages(in: "\"\(text)\"")[0]
        #expect(NakedNames.names(in: message, declared) == names)
    }

    @Test(
        "Sentences, names of the program, operators of key paths and what stands between backticks are no code",
        arguments: [
            "The realm is closed: open it.", "Property 'isDone' is none.", "The @count of it.", "Call `thaw()` on it.",
            "It links to a (broken) object.", "isDone",
        ]
    )
    func prose(text: String) {
        var declared = DeclaredNames()
        declared.read("public func thaw() -> Self {}")
        #expect(NakedNames.names(in: MessageReader.messages(in: "\"\(text)\"")[0], declared).isEmpty)
    }

    @Test("Literals that + joins are one message, with what they fill in left open")
    func joined() {
        let text = #"""
            f("a \(g("b c") + 1) "  // no end
                + "d", "e" + #"f"g"# + h + "i \"j\"")
            let text = """
                k \
                l
                """
            """#
        let texts = MessageReader.messages(in: text).map { String($0.text).replacing(" ", with: "") }
        #expect(texts.sorted() == ["a\u{FFFC}d", "bc", "ef\"g", "i\"j\"", "\nkl\n"].sorted())
    }

    @Test("A name is known by what it takes, as far as the name says so")
    func declaredNames() {
        var declared = DeclaredNames()
        declared.read(
            """
            public struct Shelf {
                public init(of books: [Book], named name: String = "(none)") {}
                public func move(
                    _ book: Book,
                    to place: (Int, x: Int),
                    force: Bool
                ) {}
                nonisolated open class func name() {}
                func hidden() {}
                case full
                public func `where`(_ isIncluded: Bool) {}
            }
            """
        )
        for name in ["Shelf", "Shelf(named:)", "move(_:to:)", "move", "name()", "full", "where(_:)", "force"] {
            #expect(declared.contains(name), "\(name)")
        }
        for name in ["hidden", "hidden()", "move(_:x:)", "move(to:_:)", "Shelf(books:)", "books", "a b"] {
            #expect(!declared.contains(name), "\(name)")
        }
    }
}
