import ActorRealm
import ExampleSupport
import Foundation

/// Checks that what a realm holds fits together, whatever interrupted the runs that wrote it.
struct Verification {
    /// What does not fit.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    let packages: Int
    let dependencies: Int

    /// Checks every page of the file, then reads everything: each package is found by its key, each dependency has one owner
    /// and a target that knows of it.
    init(configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        try realm.verify()
        var named = 0
        var listed = 0
        var owned = 0
        for package in realm.objects(Package.self) {
            named += package.dependents.count
            owned += package.dependencies.count
            if package.isListed { listed += 1 }
            guard let found = realm.object(ofType: Package.self, forPrimaryKey: package.key), found == package else {
                throw Failure(description: "\(package.key) is not found by its key.")
            }
            guard package.isListed != package.version.isEmpty else {
                throw Failure(description: "\(package.key) was stored by half.")
            }
            for dependency in package.dependencies {
                guard dependency.owners.count == 1, dependency.source == package else {
                    throw Failure(description: "A dependency of \(package.key) does not know its owner.")
                }
                guard dependency.target != nil else {
                    throw Failure(description: "A dependency of \(package.key) names nothing.")
                }
            }
        }
        let stored = realm.objects(Dependency.self).count
        guard named == stored, owned == stored else {
            throw Failure(
                description: "There are \(stored) dependencies, but packages own \(owned) and are named by \(named)."
            )
        }
        let queried = realm.objects(Package.self).where { $0.isListed }.count
        guard queried == listed else {
            throw Failure(description: "\(listed) packages are listed, but a query finds \(queried).")
        }
        packages = listed
        dependencies = stored
    }
}
