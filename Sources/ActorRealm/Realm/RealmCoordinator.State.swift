import RealmModel

extension RealmCoordinator {
    /// A declared schema, and the version of the file that fits it, with the stamp of its schema.
    struct Reconciled {
        let declared: DatabaseSchema
        let version: UInt64
        let stamp: UInt64
    }

    /// What changes while the file is open, behind one lock.
    struct State {
        /// Realms that work can be handed to, and realms of synchronous calls.
        var cores: [RealmIsolation.Key: CoreRegistration] = [:]
        var passing: [RealmIsolation.Key: CoreRegistration] = [:]
        /// Outdated realms in whose places others were opened, and which are open still.
        var replaced: [CoreRegistration] = []

        // Asked for in each commit.
        var registrations: [CoreRegistration] {
            var all = Array(cores.values)
            if !passing.isEmpty { all += passing.values }
            if !replaced.isEmpty { all += replaced }
            return all
        }
        var listeners: [(id: ListenerID, body: @Sendable (UInt64) -> Void)] = []
        var nextListener: UInt64 = 1
        var watcher: VersionWatcher?
        /// The declared schema that the file is known to fit.
        var reconciled: Reconciled?
        /// The schema that was read last, to be shared while the file has it; it says what the program calls classes, which a file that is
        /// read only may not do.
        var readSchema: DatabaseSchema?
        /// The classes that a schema was found to fit last, for observers.
        var fitting: (types: [ObjectIdentifier]?, stamp: UInt64)?
        /// How many realms are being opened, and how many were.
        var openings = 0
        var openingCount = 0
        /// So many commits ask whether a realm is alone before those that are gone are looked for again.
        var asksUntilLook = 0

        /// Whether the cores that are gone are to be looked for, of so many: once for as many commits, so that it costs each the same.
        mutating func isLookDue(at count: Int) -> Bool {
            if asksUntilLook > 0 {
                asksUntilLook -= 1
                return false
            }
            asksUntilLook = count
            return true
        }

        /// Whether the life of the file is over.
        var isEnded = false
        /// Whether a realm was closed, and none was opened since.
        var isLeft = false
        /// Reads the file in the background, or has done so.
        var verifier: BackgroundVerifier?
    }
}
