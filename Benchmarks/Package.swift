// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "actor-realm-benchmarks",
    dependencies: [
        .package(name: "actor-realm", path: "..")
    ],
    targets: [
        .executableTarget(
            name: "compare",
            dependencies: [.product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .treatAllWarnings(as: .error),
            ]
        )
    ]
)
