// swift-tools-version: 6.3

// Suites of traps, isolation and observation, as they stand in ActorRealmTests, built with optimization and without `DEBUG`.

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "release-tests",
    dependencies: [
        .package(name: "actor-realm", path: "../.."),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.0"),
    ],
    targets: [
        .target(
            name: "RealmTestSupport",
            path: "RealmTestSupport",
            // Needs what only the root package sees.
            exclude: [
                "ChangingClass.swift", "ForwardingDevice.swift", "ForwardingDirectory.swift", "FullDevice.swift",
                "RecordedFiles.swift", "TightDevice.swift",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ReleaseTests",
            dependencies: [
                "RealmTestSupport",
                .product(name: "ActorRealm", package: "actor-realm"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ],
            // A folder of links to what the root package has: only suites that use nothing but the public interface.
            path: "ActorRealmTests",
            sources: [
                "Collections/CollectionModels.swift",
                "Deployment/SecondProcessTrait.swift",
                "Diagnostics/DamageTests.swift",
                "Diagnostics/RealmTrapTests.swift",
                "Diagnostics/RemainingTrapTests.swift",
                "Differential/Specimen.swift",
                "Differential/SpecimenValue+Realm.swift",
                "Differential/SpecimenValue+Stored.swift",
                "Differential/SpecimenValue.swift",
                "Isolation/EventLoop.swift",
                "Isolation/OneRealmPerPlaceTests.swift",
                "Isolation/PlacesOnOneQueueTests.swift",
                "Isolation/SchedulerTests.swift",
                "Objects/HostileCalls.swift",
                "Objects/HostileTasks.swift",
                "Objects/TestModels.swift",
                "Objects/ThrowingCallsTests.swift",
                "Objects/TrapTests.swift",
                "Observation/BusyWriterTests.swift",
                "Observation/CollectionChangesTests.swift",
                "Observation/CompositionTests.swift",
                "Observation/CrossProcessObservingTests.swift",
                "Observation/DockModels.swift",
                "Observation/FinePrintTests.swift",
                "Observation/LeavingOut/ConsecutiveLeavingOutTests.swift",
                "Observation/LeavingOut/EndedLeavingOutTests.swift",
                "Observation/LeavingOut/LeavingOutLog.swift",
                "Observation/LeavingOut/LeavingOutModels.swift",
                "Observation/LeavingOut/LeavingOutTests.swift",
                "Observation/LeavingOut/LeavingOutWatcher.swift",
                "Observation/LeavingOut/RandomLeavingOutTests.swift",
                "Observation/LeavingOut/ShownElements+Checking.swift",
                "Observation/LeavingOut/ShownElements.swift",
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
                "Observation/RealmBlockActionTests.swift",
                "Observation/RealmBlockTests.swift",
                "Observation/SetReplacementTests.swift",
                "Observation/StalledObserverTests.swift",
                "Queries/QueryTrapTests.swift",
                "Realm/Closed/ClosedRealm+Store.swift",
                "Realm/Closed/ClosedRealm.swift",
                "Realm/Closed/ClosedRealmAsynchronousTests.swift",
                "Realm/Closed/ClosedRealmCollectionTests.swift",
                "Realm/Closed/ClosedRealmHandoverTests.swift",
                "Realm/Closed/ClosedRealmObjectTests.swift",
                "Realm/Closed/ClosedRealmPositionTests.swift",
                "Realm/Closed/ClosedRealmTests.swift",
                "Realm/Counter.swift",
                "Realm/RealmTestModels.swift",
                "Sections/SectionObservingTests.swift",
            ],
            swiftSettings: settings
        ),
    ]
)
