import Testing
import extract_snippets

@Suite("The code that pages, comments and messages show is found")
struct SnippetReaderTests {
    @Test("A page shows its blocks of Swift, and nothing else")
    func page() {
        let text = """
            Text.
            ```swift
            let a = 1
            let b = 2
            ```
            ```sh
            swift test
            ```
            <!-- not compiled: a manifest -->
            ```swift
            .package(url: "x")
            ```
            ```swift
            let c = 3
            ```
            """
        #expect(
            SnippetReader.snippets(in: text, path: "page.md") == [
                Snippet(path: "page.md", line: 3, code: ["let a = 1", "let b = 2"]),
                Snippet(path: "page.md", line: 14, code: ["let c = 3"]),
            ]
        )
    }

    @Test("A source shows the blocks of its documentation comments, and the code in its messages")
    func source() {
        let text = #"""
            /// Does.
            ///
            /// ```swift
            /// one()
            ///     two()
            /// ```
            func f() {
                // "`not(this: 1)`"
                trap("Use `realm.close(now: \(x))`, `write()`, `init(a:)` or `f(a: \"\(y)\")`. " + "Send `person.frozen`.")
                trap(
                    "To send it, use `a.b` in a synchronous function. Declare `@Persisted var x: Int`, or call "
                        + "`try c.d()` in a "
                        + "synchronous one."
                )
            }
            """#
        #expect(
            SnippetReader.snippets(in: text, path: "f.swift") == [
                Snippet(path: "f.swift", line: 4, code: ["one()", "    two()"]),
                Snippet(path: "f.swift", line: 9, code: ["_ = realm.close(now: filled)"]),
                Snippet(path: "f.swift", line: 9, code: ["_ = f(a: \"filled\")"]),
                Snippet(path: "f.swift", line: 9, code: ["sends(person.frozen)"]),
                Snippet(path: "f.swift", line: 11, code: ["sends(a.b)"]),
                Snippet(path: "f.swift", line: 11, code: ["class Shown: Object { @Persisted var x: Int }"]),
                Snippet(path: "f.swift", line: 12, code: ["func synchronous() throws { _ = try c.d() }"]),
            ]
        )
    }

    @Test("A snippet becomes a method, its imports go to the top, and its errors name the page")
    func writing() {
        let source = SnippetWriter.source(of: [
            Snippet(path: "p.md", line: 7, code: ["import Extra", "class A { … }"])
        ])
        #expect(source.hasPrefix("import ActorRealm\nimport AsyncAlgorithms\nimport Dispatch\nimport Extra\n"))
        #expect(source.contains("#sourceLocation(file: \"p.md\", line: 7)\n\nclass A { /* … */ }\n#sourceLocation()"))
    }
}
