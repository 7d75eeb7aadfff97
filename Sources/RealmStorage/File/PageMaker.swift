import Synchronization

/// Who makes the pages of commits that were acknowledged without: whoever gives out the turns to write.
package final class PageMaker: Sendable {
    /// Makes them and waits for that, on the calling thread; nothing where the caller itself keeps others from it.
    ///
    /// Where an open transaction keeps them from being made, it is asked first whether the caller does without.
    package typealias Making = @Sendable (_ doesWithout: () -> Bool) -> Void

    /// A structure for the reason that ``PinHolders`` has one.
    private struct Maker {
        var making: Making?
    }

    private let maker = Mutex(Maker())

    /// Sets what makes them; it is called outside all locks of the file.
    package func attach(_ making: @escaping Making) {
        maker.withLock { $0.making = making }
    }

    func make(unless doesWithout: () -> Bool) { maker.withLock { $0.making }?(doesWithout) }
}
