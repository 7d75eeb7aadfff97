import Glibc

/// Something that a structure of this library promises at all times and does not keep: never the fault of a file or of a caller.
package struct BrokenInvariant: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Checking what structures promise, in debug builds that ask for it.
package enum Invariant {
    /// What is done with a broken structure where a file is opened without a say: nothing is checked, or, for running all tests with the
    /// checks, the process ends, where the environment has a variable `ACTOR_REALM_INVARIANTS`.
    static let environmentHandler: (@Sendable (BrokenInvariant) -> Void)? = {
        #if DEBUG
        if getenv("ACTOR_REALM_INVARIANTS") != nil { return { preconditionFailure("A structure is broken: \($0)") } }
        #endif
        return nil
    }()

    /// Throws unless a condition holds.
    package static func require(
        _ condition: Bool,
        _ description: @autoclosure () -> String
    ) throws(BrokenInvariant) {
        if !condition { throw BrokenInvariant(description()) }
    }
}

#if DEBUG
extension StorageFile {
    /// Checks structures of a file that was opened for that, and tells whoever did.
    package func assertInvariants(_ check: () throws(BrokenInvariant) -> Void) {
        guard let tell = options.invariantWasBroken else { return }
        do throws(BrokenInvariant) { try check() } catch { tell(error) }
    }
}
#endif
