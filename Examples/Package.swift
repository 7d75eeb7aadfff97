// swift-tools-version: 6.3

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "actor-realm-examples",
    dependencies: [
        .package(name: "actor-realm", path: ".."),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
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
            dependencies: [
                "ExampleSupport",
                .product(name: "ActorRealm", package: "actor-realm"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "live",
            dependencies: [
                "ExampleSupport",
                .product(name: "ActorRealm", package: "actor-realm"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ],
            resources: [
                .embedInCode("Page/page.html"),
                .embedInCode("Page/style.css"),
                .embedInCode("Page/script.js"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "port",
            dependencies: [.product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "mailbox",
            dependencies: ["ExampleSupport", .product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: settings
        ),
    ]
)
