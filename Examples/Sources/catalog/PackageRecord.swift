/// A package as a list describes it.
struct PackageRecord: Sendable {
    var name = ""
    var architecture = ""
    var version = ""
    var section = ""
    var priority = ""
    var installedSize = 0
    var summary = ""
    var maintainer = ""
    var homepage: String?
    var dependencies: [DependencyRecord] = []

    /// The name alone for packages of the machine's architecture and of none, "name:architecture" for others.
    var key: String {
        Architecture.isNative(architecture) ? name : "\(name):\(architecture)"
    }
}

/// A dependency as a list describes it.
struct DependencyRecord: Sendable, Equatable {
    var kind: DependencyKind
    /// The key of the package that it names.
    var target: String
    var constraint = ""
    var alternative = 0
}

/// The architectures whose packages go by their name alone.
enum Architecture {
    static let native: String = {
        #if arch(x86_64)
        "amd64"
        #elseif arch(arm64)
        "arm64"
        #else
        "native"
        #endif
    }()

    static func isNative(_ architecture: String) -> Bool {
        architecture == "all" || architecture == native || architecture.isEmpty
    }
}
