/// How often the code that was counted asked for memory and changed reference counts.
struct Calls {
    /// Calls of the allocator: the bodies of objects and arrays, and all other memory.
    var allocations = 0.0
    /// The allocations that are objects, arrays and strings among them.
    var objects = 0.0
    /// Calls that count a reference more.
    var retains = 0.0
    /// Calls that count a reference less.
    var releases = 0.0
    /// Calls that ask the runtime which executor runs: each access of a live object asks once.
    var checks = 0.0

    /// What a function of the runtime or the C library counts as.
    private enum Kind {
        case allocation
        case retain
        case release

        init?(_ function: Substring) {
            let name = function.drop { $0 == "_" }
            switch name {
            case "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign": self = .allocation
            default:
                guard name.hasPrefix("swift_") else { return nil }
                let operation = name.dropFirst("swift_".count)
                if operation.hasPrefix("retain") || operation.hasPrefix("bridgeObjectRetain") {
                    self = .retain
                } else if operation.hasPrefix("release") || operation.hasPrefix("bridgeObjectRelease") {
                    self = .release
                } else {
                    return nil
                }
            }
        }
    }

    /// Adds calls of one function by another.
    ///
    /// What one of these functions calls another one for is the same request, passed on.
    mutating func add(_ count: Double, of function: Substring, by caller: Substring) {
        if function == "swift_allocObject" { objects += count }
        if function == "swift_task_getCurrentExecutor" { checks += count }
        guard let kind = Kind(function), kind != Kind(caller) else { return }
        switch kind {
        case .allocation: allocations += count
        case .retain: retains += count
        case .release: releases += count
        }
    }

    /// The calls for each of some operations.
    func divided(by operations: Double) -> Calls {
        Calls(
            allocations: allocations / operations,
            objects: objects / operations,
            retains: retains / operations,
            releases: releases / operations,
            checks: checks / operations
        )
    }
}
