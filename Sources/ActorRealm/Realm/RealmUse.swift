/// What a realm is opened for.
enum RealmUse {
    /// The program keeps it for as long as it wants.
    case lasting
    /// For the time of a block: the last of the blocks that use it closes it, unless somebody opened it to stay open.
    case block
    /// For something that exists already, and has it closed or open as it may be.
    case found
}

extension RealmCore {
    /// Notes another use of a realm that is open; `isClosing` says that whoever opened it before wants it closed.
    func note(_ use: RealmUse, whileClosing isClosing: Bool) {
        switch use {
        case .lasting: blockCount = nil
        case .block: if let count = blockCount ?? (isClosing ? 0 : nil) { blockCount = count + 1 }
        case .found: break
        }
    }

    /// Notes that a block is done; true for the last one, which is to close the realm.
    func endBlock() -> Bool {
        guard let count = blockCount else { return false }
        blockCount = count - 1
        return count == 1
    }
}
