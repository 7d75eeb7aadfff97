import Foundation

/// A child that `fork` makes: what a program does that divides itself after it has opened a realm.
public enum ForkedChild {
    /// Runs a function in a child.
    public static func start(_ body: () -> Int32) throws -> pid_t {
        // Swift hides `fork`, for good reasons: most of what a program has does not work in a child.
        guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork") else {
            throw CocoaError(.featureUnsupported)
        }
        let child = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
        if child == 0 { _exit(body()) }
        return child
    }

    /// Runs a function in a child; returns what `waitpid` says of its end: 0 where the function returned 0.
    public static func run(_ body: () -> Int32) throws -> Int32 {
        let child = try start(body)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status
    }
}
