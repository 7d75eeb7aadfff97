import Foundation
import PackagePlugin

/// Writes one Swift file from the code blocks of the repository's pages and sources, for a target that only has to build.
@main
struct ExtractSnippets: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let root = context.package.directoryURL.deletingLastPathComponent().deletingLastPathComponent()
        let output = context.pluginWorkDirectoryURL.appendingPathComponent("ExtractedSnippets.swift")
        let inputs = [
            "README.md", "Docs", "Examples/README.md", "Sources/ActorRealm", "Sources/RealmQuery", "Sources/RealmModel",
            "Sources/RealmStorage",
        ]
        .flatMap { pages(at: root.appendingPathComponent($0)) }
        return [
            .buildCommand(
                displayName: "Extracting code blocks",
                executable: try context.tool(named: "extract-snippets").url,
                arguments: [output.path] + inputs.map(\.path),
                inputFiles: inputs,
                outputFiles: [output]
            )
        ]
    }

    /// The pages and sources below a folder, or the one page that is named.
    private func pages(at url: URL) -> [URL] {
        guard let paths = FileManager.default.enumerator(atPath: url.path)?.allObjects as? [String], !paths.isEmpty
        else {
            return [url]
        }
        return paths.filter { $0.hasSuffix(".md") || $0.hasSuffix(".swift") }.sorted().map(url.appendingPathComponent)
    }
}
