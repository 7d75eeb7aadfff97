// swift-tools-version: 6.3

// Fuzzing guided by coverage, with libFuzzer: these targets link only with `--sanitize=fuzzer`, so they have a package of
// their own. `Tests/Fuzz/run` builds and runs them.

import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]

let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "actor-realm", path: "../..")],
    targets: [
        .executableTarget(
            name: "file-fuzz",
            dependencies: [.product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "record-fuzz",
            dependencies: [.product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "log-fuzz",
            dependencies: [.product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "predicate-fuzz",
            dependencies: [.product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: settings
        ),
    ]
)
