import ActorRealm
import ExampleSupport
import Foundation

/// A catalogue of Debian packages and of what they depend on, kept in line with the machine's own database or with an
/// archive's lists.
@main
@MainActor
struct Catalog {
    private static let usage = """
        usage: catalog [INPUT ...] [--realm PATH] [--batch N] [--dependents NAME] [--quiet] [--no-questions]
               catalog --verify [--realm PATH]

        INPUT        A list such as /var/lib/dpkg/status, or a folder of lists such as /var/lib/apt/lists. By default what
                     this machine has installed, or the sample that comes with the example.
        --realm      The realm file; catalog.realm by default. A second run updates what changed.
        --batch      Packages in a write transaction; 2,000 by default.
        --dependents Whose dependents to look for; libc6 by default.
        --sample     Read the sample.
        --verify     Only check that what the realm holds fits together.
        --quiet      Print the last line only.
        """

    static func main() async {
        let arguments = CommandLineArguments(
            options: ["--realm", "--batch", "--dependents"],
            flags: ["--quiet", "--no-questions", "--verify", "--sample"],
            usage: usage
        )
        do {
            let configuration = Realm.Configuration(
                fileURL: URL(fileURLWithPath: arguments["--realm"] ?? "catalog.realm"),
                objectTypes: [Package.self, Dependency.self]
            )
            if arguments.has("--verify") {
                try verify(configuration)
            } else {
                try await run(configuration, arguments)
            }
        } catch {
            Console.error("catalog: \(error)")
            exit(1)
        }
    }

    private static func run(_ configuration: Realm.Configuration, _ arguments: CommandLineArguments) async throws {
        let isQuiet = arguments.has("--quiet")
        let sources = try sources(arguments)
        let start = ContinuousClock.now

        let importer = try await Importer(configuration: configuration)
        let follower = try await Follower(configuration: configuration, isQuiet: isQuiet)
        let following = Task { await follower.follow() }
        try await follower.begin()

        let summary = try await importer.run(sources, batchSize: arguments.number("--batch") ?? 2_000) {
            guard !isQuiet else { return }
            Console.status(
                "importer: \(Figures.count($1, "package")) and \(Figures.grouped($2)) dependencies are stored (\($0))"
            )
        }
        let elapsed = ContinuousClock.now - start
        try await follower.catchUp(with: summary)
        following.cancel()
        await following.value

        let realm = try await Realm(configuration: configuration)
        if !isQuiet {
            Console.line("importer: \(summary), in \(Figures.seconds(elapsed))")
            let deliveries = await Figures.count(follower.deliveries, "change")
            Console.line("follower: saw the same in \(deliveries), and its list is the realm's")
            if !arguments.has("--no-questions") {
                Questions(realm: realm).ask(dependentsOf: arguments["--dependents"] ?? "libc6")
            }
            Console.line()
        }
        let file = configuration.fileURL ?? URL(fileURLWithPath: "catalog.realm")
        Console.line(
            "\(Figures.count(realm.objects(Package.self).where { $0.isListed }.count, "package")) and "
                + "\(Figures.count(realm.objects(Dependency.self).count, "dependency", "dependencies")) in \(file.path): "
                + "imported in \(Figures.seconds(elapsed)), "
                + "\(Figures.mebibytes(ProcessFigures.byteCount(of: file))) on disk, "
                + "peak memory \(Figures.mebibytes(ProcessFigures.peakResidentByteCount)), the mapped file included"
        )
    }

    private static func sources(_ arguments: CommandLineArguments) throws -> [PackageSource] {
        if arguments.has("--sample") { return [.sample] }
        if arguments.positional.isEmpty { return [.standard] }
        return try arguments.positional.flatMap { try PackageSource.all(at: $0) }
    }

    private static func verify(_ configuration: Realm.Configuration) throws {
        let verified = try Verification(configuration: configuration)
        Console.line(
            "verified: \(Figures.count(verified.packages, "package")) and "
                + Figures.count(verified.dependencies, "dependency", "dependencies")
        )
    }
}
