// swift-tools-version: 6.3

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let testSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
    name: "actor-realm",
    products: [
        .library(name: "ActorRealm", targets: ["ActorRealm"]),
        .executable(name: "realm-torture", targets: ["realm-torture"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-atomics", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.0"),
    ],
    targets: [
        .target(name: "CRealmShims"),
        .target(
            name: "RealmStorage",
            dependencies: [
                "CRealmShims",
                .product(name: "Atomics", package: "swift-atomics"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RealmModel",
            dependencies: [
                "RealmStorage",
                .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RealmQuery",
            dependencies: [
                "RealmModel",
                "RealmStorage",
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ActorRealm",
            dependencies: [
                "CRealmShims",
                "RealmStorage",
                "RealmModel",
                "RealmQuery",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "realm-torture",
            dependencies: ["ActorRealm"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "realm-storm",
            dependencies: ["ActorRealm", "MisuseTrials"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "synchronous-program",
            dependencies: ["ActorRealm"],
            path: "Tests/SynchronousProgram",
            swiftSettings: testSettings
        ),
        // Has all tests check invariants.
        .target(name: "CInvariantSwitch", path: "Tests/InvariantSwitch"),
        .target(
            name: "RealmTestSupport",
            dependencies: ["RealmModel", "RealmStorage"],
            path: "Tests/RealmTestSupport",
            swiftSettings: testSettings
        ),
        .target(
            name: "MisuseTrials",
            dependencies: ["ActorRealm", "RealmTestSupport"],
            path: "Tests/MisuseTrials",
            swiftSettings: settings
        ),
        .testTarget(
            name: "RealmStorageTests",
            dependencies: ["CInvariantSwitch", "RealmStorage", "RealmTestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "RealmModelTests",
            dependencies: ["CInvariantSwitch", "RealmModel", "RealmStorage", "RealmTestSupport"],
            exclude: [
                "Decimal/DecimalVectors.txt", "Decimal/generate-vectors.py", "Format/Golden", "Format/golden-log.py",
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "RealmQueryTests",
            dependencies: ["CInvariantSwitch", "RealmQuery", "RealmModel", "RealmStorage", "RealmTestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ActorRealmTests",
            dependencies: [
                "ActorRealm", "CInvariantSwitch", "CRealmShims", "MisuseTrials", "RealmModel", "RealmStorage",
                "RealmTestSupport", "synchronous-program",
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ],
            swiftSettings: testSettings
        ),
    ]
)
