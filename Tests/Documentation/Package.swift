// swift-tools-version: 6.3

// The documentation's examples as a user would write them: in a package of its own that depends on the library, with the
// settings that new packages have, and with every warning an error.

import PackageDescription

let package = Package(
    name: "documentation-examples",
    dependencies: [
        .package(name: "actor-realm", path: "../.."),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.0"),
    ],
    targets: [
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                .product(name: "ActorRealm", package: "actor-realm"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
        // A module whose declarations are on the main actor where they do not say otherwise, as new applications have it.
        .testTarget(
            name: "MainActorModuleTests",
            dependencies: [.product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: [
                .swiftLanguageMode(.v6), .defaultIsolation(MainActor.self), .treatAllWarnings(as: .error),
            ]
        ),
        // With the upcoming features that library authors turn on.
        .testTarget(
            name: "UpcomingFeaturesTests",
            dependencies: [.product(name: "ActorRealm", package: "actor-realm")],
            swiftSettings: [
                .swiftLanguageMode(.v6), .treatAllWarnings(as: .error),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .enableUpcomingFeature("InferIsolatedConformances"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]
        ),
        // Every code block of the pages and of the library's documentation comments, and the code that its messages recommend.
        // It is built and never run, in a module that no test links, so that its models are not discovered there.
        .target(
            name: "Snippets",
            dependencies: [
                .product(name: "ActorRealm", package: "actor-realm"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ],
            // An example may leave unused what it shows.
            swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(["-suppress-warnings"])],
            plugins: ["ExtractSnippets"]
        ),
        .executableTarget(name: "extract-snippets", swiftSettings: [.swiftLanguageMode(.v6)]),
        .plugin(name: "ExtractSnippets", capability: .buildTool(), dependencies: ["extract-snippets"]),
        .testTarget(
            name: "ExtractSnippetsTests",
            dependencies: ["extract-snippets"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
    ]
)
