// swift-tools-version: 6.3

// The suites about traps, isolation and observation, of the tests' own sources, built with optimization and without `DEBUG`,
// against the library as a user's program has it: hot paths differ there. Only suites that need nothing but the public
// interface can be here; misuses are `realm-storm`'s, which the gate builds with optimization, too.

import PackageDescription

/// What new packages have, as the tests have it.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
    name: "release-tests",
    dependencies: [
        .package(name: "actor-realm", path: "../.."),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.0"),
    ],
    targets: [
        .target(name: "RealmTestSupport", swiftSettings: settings),
        .testTarget(
            name: "ReleaseTests",
            dependencies: [
                "RealmTestSupport",
                .product(name: "ActorRealm", package: "actor-realm"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ],
            sources: [
                "Diagnostics/RealmTrapTests.swift",
                "Handover/HandoverTests.swift",
                "Isolation/EventLoop.swift",
                "Isolation/SchedulerTests.swift",
                "Migration/MigrationModels.swift",
                "Migration/MigrationTrapTests.swift",
                "Objects/TestModels.swift",
                "Objects/TrapTests.swift",
                "Observation/BusyWriterTests.swift",
                "Observation/CollectionChangesTests.swift",
                "Observation/CompositionTests.swift",
                "Observation/CrossProcessObservingTests.swift",
                "Observation/DockModels.swift",
                "Observation/MapChangesTests.swift",
                "Observation/ObjectChangesTests.swift",
                "Observation/ObservationLimitsTests.swift",
                "Observation/ObservationModels.swift",
                "Observation/ObservedEndsTests.swift",
                "Observation/ObservedRealmsTests.swift",
                "Observation/ObservedResultsTests.swift",
                "Observation/ObservedTypesTests.swift",
                "Observation/ObservingTests.swift",
                "Observation/RandomCollectionsTests.swift",
                "Observation/SetReplacementTests.swift",
                "Observation/StalledObserverTests.swift",
                "Queries/QueryTrapTests.swift",
                "Realm/Counter.swift",
                "Realm/RealmTestModels.swift",
                "Realm/TornReadTests.swift",
                "Sections/SectionChangesTests.swift",
                "Sections/SectionObservingTests.swift",
            ],
            swiftSettings: settings
        ),
    ]
)
