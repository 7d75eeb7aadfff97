// swift-tools-version: 6.3

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "actor-realm-benchmarks",
    dependencies: [
        .package(name: "actor-realm", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        .target(name: "People", swiftSettings: settings),
        .target(name: "Figures", swiftSettings: settings),
        .target(name: "CCounters"),
        .target(name: "CLimits"),
        // Nothing is linked, and without its header nothing is there: see the source.
        .target(name: "CRocksDB"),
        .executableTarget(
            name: "guard",
            dependencies: ["Figures", "People", "CCounters", .product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "migrate",
            dependencies: ["People", .product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "compare",
            dependencies: [
                "CSQLite", "CLMDB", "CLimits", "CRocksDB", "Figures", "People",
                .product(name: "ActorRealm", package: "actor-realm"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .testTarget(name: "FiguresTests", dependencies: ["Figures", "People"], swiftSettings: settings),
    ]
)
