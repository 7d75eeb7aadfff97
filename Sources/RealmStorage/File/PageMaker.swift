import Synchronization

/// Who makes the pages of commits that were acknowledged without: whoever gives out the turns to write.
///
/// There may be several for a while: a file that is opened anew has another queue of writers, and the one before may owe pages yet.
package final class PageMaker: Sendable {
    /// Makes those that it owes and waits for that, on the calling thread; nothing where the caller itself keeps others from it.
    ///
    /// Where an open transaction keeps them from being made, it is asked first whether the caller does without.
    package typealias Making = @Sendable (_ doesWithout: () -> Bool) -> Void

    /// One of them.
    private final class Maker: Sendable {
        let isThere: @Sendable () -> Bool
        let making: Making

        init(_ isThere: @escaping @Sendable () -> Bool, _ making: @escaping Making) {
            self.isThere = isThere
            self.making = making
        }
    }

    private let makers = Mutex<[Maker]>([])

    /// Adds what makes them, and forgets others that are gone.
    ///
    /// - Parameters:
    ///   - isThere: Whether it is not gone; called outside all locks, since whoever asks may let go of it last.
    ///   - making: What makes them; called outside all locks of the file.
    package func attach(
        while isThere: @escaping @Sendable () -> Bool = { true },
        _ making: @escaping Making
    ) {
        let gone = makers.withLock { $0 }.filter { !$0.isThere() }
        let maker = Maker(isThere, making)
        makers.withLock { makers in
            makers.removeAll { known in gone.contains { $0 === known } }
            makers.append(maker)
        }
    }

    func make(unless doesWithout: () -> Bool) {
        for maker in makers.withLock({ $0 }) { maker.making(doesWithout) }
    }
}
