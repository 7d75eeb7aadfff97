// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "actor-realm-examples",
    dependencies: [
        .package(name: "actor-realm", path: "..")
    ],
    targets: [
        .target(name: "ExampleSupport", swiftSettings: settings),
        .executableTarget(
            name: "catalog",
            dependencies: ["ExampleSupport", .product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "todo",
            dependencies: ["ExampleSupport", .product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "mailbox",
            dependencies: ["ExampleSupport", .product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: settings
        ),
    ]
)
