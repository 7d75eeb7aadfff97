/// A block that observes a whole realm: it is called before a synchronous commit of the realm returns.
protocol RealmBlock: AnyObject, Sendable {
    /// Grows from registration to registration.
    var number: UInt64 { get }

    /// Calls the block if there is something to tell of the version that the realm stands on, in its isolation.
    func tell(in core: RealmCore)

    /// Goes on with the core that reads anew for a realm that was invalidated.
    func move(to core: RealmCore)
}

/// Whether blocks that observe are being called in the isolation of a realm; kept when the realm is invalidated.
final class BlockCalls {
    /// Whether the blocks that observe the whole realm are being told.
    fileprivate(set) var isTelling = false
    private var depth = 0

    /// Whether a block that observes is being called.
    var isUnderWay: Bool { depth > 0 }

    /// Calls a block that observes.
    func during(_ block: () -> Void) {
        depth += 1
        defer { depth -= 1 }
        block()
    }
}

extension RealmCore {
    /// Calls the blocks that observe the whole realm and do not know the version that it stands on, in the order of their
    /// registration.
    ///
    /// What a block commits is told to the blocks behind it in the same round, and to those before it and itself in a later turn
    /// of the isolation: a block that always writes does not keep its writer forever. A block that leaves a transaction open
    /// ends the round: the others are told when that has ended.
    func tellBlocks() {
        let blocks = signals.blocks
        if blocks.isEmpty || blockCalls.isTelling { return }
        blockCalls.isTelling = true
        blockCalls.during {
            for block in blocks {
                // A block may have closed the realm, or invalidated it.
                guard let core = lifecycle == .open ? self : existingRealm?.core, core.lifecycle == .open else { break }
                if core.hasTransaction { break }
                block.tell(in: core)
            }
        }
        blockCalls.isTelling = false
        // Those that wanted to deliver meanwhile.
        signals.raise()
    }
}
