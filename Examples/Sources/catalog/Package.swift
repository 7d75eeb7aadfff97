import ActorRealm

/// A package of a Debian system or archive.
final class Package: Object {
    /// The name, followed by the architecture where it is not the machine's own.
    @Persisted(primaryKey: true) var key: String
    @Persisted(indexed: true) var name: String
    /// False while the package is only named by others: a virtual package, or one that no list describes.
    @Persisted(indexed: true) var isListed: Bool
    @Persisted var architecture: String
    @Persisted var version: String
    @Persisted(indexed: true) var section: String
    @Persisted var priority: String
    /// The space that it takes when installed, in KiB.
    @Persisted var installedSize: Int
    @Persisted var summary: String
    @Persisted var maintainer: String
    @Persisted var homepage: String?
    @Persisted var dependencies: List<Dependency>
    /// The dependencies of others that name this package.
    @Persisted(originProperty: "target") var dependents: LinkingObjects<Dependency>
}

extension Package {
    /// What a list says of a package: a change in any of these is a change of the package itself, and not of one that it
    /// depends on.
    static let describedProperties = [
        "architecture", "version", "section", "priority", "installedSize", "summary", "maintainer", "homepage",
        "dependencies",
    ]

    /// Whether the package stands in the realm just as the record describes it.
    func agrees(with record: PackageRecord) -> Bool {
        isListed && version == record.version && architecture == record.architecture && section == record.section
            && priority == record.priority && installedSize == record.installedSize && summary == record.summary
            && maintainer == record.maintainer && homepage == record.homepage
            && dependencies.count == record.dependencies.count
            && zip(dependencies, record.dependencies).allSatisfy { $0.agrees(with: $1) }
    }

    /// Writes what differs, and nothing else, so that observers hear of real changes only.
    func update(from record: PackageRecord, in realm: Realm) {
        if architecture != record.architecture { architecture = record.architecture }
        if version != record.version { version = record.version }
        if section != record.section { section = record.section }
        if priority != record.priority { priority = record.priority }
        if installedSize != record.installedSize { installedSize = record.installedSize }
        if summary != record.summary { summary = record.summary }
        if maintainer != record.maintainer { maintainer = record.maintainer }
        if homepage != record.homepage { homepage = record.homepage }
        updateDependencies(from: record.dependencies, in: realm)
        if !isListed { isListed = true }
    }

    /// Replaces the stretch of the list that differs: equal dependencies at its beginning and end stay as they are.
    private func updateDependencies(from records: [DependencyRecord], in realm: Realm) {
        let count = dependencies.count
        let shorter = min(count, records.count)
        var prefix = 0
        while prefix < shorter, dependencies[prefix].agrees(with: records[prefix]) { prefix += 1 }
        var suffix = 0
        while suffix < shorter - prefix,
            dependencies[count - 1 - suffix].agrees(with: records[records.count - 1 - suffix])
        {
            suffix += 1
        }
        for index in (prefix..<count - suffix).reversed() {
            // Deleting an object takes it out of the list, too.
            realm.delete(dependencies[index])
        }
        for index in prefix..<records.count - suffix {
            let dependency = Dependency(records[index], target: realm.package(named: records[index].target))
            if index == dependencies.count {
                dependencies.append(dependency)
            } else {
                dependencies.insert(dependency, at: index)
            }
        }
    }

    /// Forgets what a list said of the package, which others still name.
    func unlist(in realm: Realm) {
        realm.delete(dependencies)
        isListed = false
        architecture = ""
        version = ""
        section = ""
        priority = ""
        installedSize = 0
        summary = ""
        maintainer = ""
        homepage = nil
    }
}

extension Realm {
    /// The package of that key; one that no list has described yet is made on the spot.
    func package(named key: String) -> Package {
        if let known = object(ofType: Package.self, forPrimaryKey: key) { return known }
        let package = Package()
        package.key = key
        package.name = key
        add(package)
        return package
    }

    /// Stores what a list says of a package.
    func store(_ record: PackageRecord) -> ImportSummary {
        let package = package(named: record.key)
        guard !package.agrees(with: record) else { return ImportSummary(unchanged: 1) }
        let isNew = !package.isListed
        if package.name != record.name { package.name = record.name }
        package.update(from: record, in: self)
        return isNew ? ImportSummary(added: 1) : ImportSummary(updated: 1)
    }
}
