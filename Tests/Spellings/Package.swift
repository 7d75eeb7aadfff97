// swift-tools-version: 6.3

// A call of each public name that code written for RealmSwift may use, compiled as a user would compile it: in a package of its
// own, in the language mode of Swift 5, in which many servers still are, and in that of Swift 6. Both targets have the same files.
//
// Sync, Combine and SwiftUI are left out. The geospatial types are missing: they come with their queries.

import PackageDescription

let package = Package(
    name: "spellings",
    dependencies: [.package(name: "actor-realm", path: "../..")],
    targets: [
        .executableTarget(
            name: "Names",
            dependencies: [.product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
        .executableTarget(
            name: "NamesInSwift5",
            dependencies: [.product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
    ]
)
