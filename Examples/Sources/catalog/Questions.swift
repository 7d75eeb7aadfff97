import ActorRealm
import ExampleSupport

/// Questions that a realm of packages answers.
@MainActor
struct Questions {
    let realm: Realm

    /// Asks them all and prints the answers.
    func ask(dependentsOf name: String) {
        largest()
        sections()
        mostDependedUpon()
        orphans()
        dependents(of: name)
    }

    private var packages: Results<Package> {
        realm.objects(Package.self).where { $0.isListed }
    }

    private func largest() {
        Console.line("\nLargest packages")
        for package in packages.sorted(byKeyPath: "installedSize", ascending: false).prefix(8) {
            let size = Figures.mebibytes(package.installedSize * 1024)
            Console.line("  \(Figures.padded(package.key, to: 36)) \(Figures.padded(size, to: 14)) \(package.summary)")
        }
    }

    private func sections() {
        Console.line("\nLargest sections")
        let all = packages
        let names = Set(all.map(\.section))
        let sizes = names.map { name in
            let members = all.where { $0.section == name }
            return (name: name, count: members.count, size: members.sum(of: \.installedSize))
        }
        for section in sizes.sorted(by: { ($0.size, $0.name) > ($1.size, $1.name) }).prefix(5) {
            let size = Figures.mebibytes(section.size * 1024)
            let count = Figures.count(section.count, "package")
            Console.line("  \(Figures.padded(section.name, to: 36)) \(Figures.padded(size, to: 14)) \(count)")
        }
    }

    private func mostDependedUpon() {
        Console.line("\nMost depended upon")
        let counts = Array(realm.objects(Package.self).map { (key: $0.key, count: $0.dependents.count) })
        for (key, count) in counts.sorted(by: { ($0.count, $1.key) > ($1.count, $0.key) }).prefix(8) {
            guard let package = realm.object(ofType: Package.self, forPrimaryKey: key) else { continue }
            let hard = package.dependents.where { $0.kind == .depends || $0.kind == .preDepends }.count
            let figures = "named \(Figures.grouped(count)) times, \(Figures.grouped(hard)) of them hard dependencies"
            Console.line("  \(Figures.padded(key, to: 36)) \(figures)")
        }
    }

    private func orphans() {
        let orphans = packages.sorted(byKeyPath: "installedSize", ascending: false).filter { $0.dependents.isEmpty }
        let keys = Array(orphans.map(\.key))
        let largest = keys.prefix(5).joined(separator: ", ")
        Console.line("\nNobody names \(Figures.count(keys.count, "package")); the largest: \(largest)")
    }

    /// Everything that does not work without a package, directly or through others.
    private func dependents(of name: String) {
        guard let root = realm.object(ofType: Package.self, forPrimaryKey: name) else {
            return Console.line("\nThere is no package \(name).")
        }
        var found: Set<String> = [name]
        var frontier = [root]
        var depth = 0
        var direct = 0
        while !frontier.isEmpty {
            var next: [Package] = []
            for package in frontier {
                for dependency in package.dependents where dependency.kind.isHard {
                    guard let source = dependency.source, found.insert(source.key).inserted else { continue }
                    next.append(source)
                }
            }
            if depth == 0 { direct = next.count }
            if !next.isEmpty { depth += 1 }
            frontier = next
        }
        Console.line(
            "\n\(Figures.count(found.count - 1, "package")) cannot do without \(name), "
                + "\(Figures.grouped(direct)) directly, the farthest over \(Figures.count(depth, "step"))"
        )
    }
}
