import Glibc

/// Something that a structure of this library promises at all times and does not keep: never the fault of a file or of a caller.
package struct BrokenInvariant: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Checking what structures promise, in debug builds that ask for it.
package enum Invariant {
    /// How much is checked.
    package enum Scope: Sendable {
        /// What a step changed: takes constant time, or a time that goes by the change. What transactions that share a commit did is
        /// looked at once more, as a whole, where the commit is made of it.
        case change
        /// Whole structures, with what the step left alone.
        case whole
    }

    /// What the environment asks for with a variable `ACTOR_REALM_INVARIANTS`, where a file is opened without a say.
    ///
    /// Nothing without the variable or with the value `none`, what changes with `change`, and whole structures otherwise.
    static let environmentScope: Scope? = {
        #if DEBUG
        guard let value = getenv("ACTOR_REALM_INVARIANTS") else { return nil }
        switch String(cString: value) {
        case "none": return nil
        case "change": return .change
        default: return .whole
        }
        #else
        return nil
        #endif
    }()

    /// What is done with a broken structure then: the process ends.
    static let environmentHandler: (@Sendable (BrokenInvariant) -> Void)? = {
        #if DEBUG
        if environmentScope != nil { return { preconditionFailure("A structure is broken: \($0)") } }
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

    /// Whether whole structures are checked, and not only what a step changed.
    package var checksWholeStructures: Bool { options.invariantScope == .whole }
}
#endif
