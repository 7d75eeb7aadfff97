import CRealmShims
import Dispatch

/// The isolation of a serial dispatch queue.
final class QueueIsolation: Sendable {
    let queue: DispatchQueue
    private let mark = DispatchSpecificKey<Bool>()

    init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: mark, value: true)
    }

    deinit {
        queue.setSpecific(key: mark, value: nil)
    }

    /// Whether the caller runs on the queue, or on one that targets it.
    var isCurrent: Bool {
        DispatchQueue.getSpecific(key: mark) == true
    }
}

/// The thread that opened a realm outside every actor and queue, and the task it ran then.
struct ThreadIsolation: Sendable {
    let word = crealm_thread_word()
    let task = crealm_current_task()
    let executor = crealm_current_executor()
    /// Whether the thread belongs to the program, and not to a pool whose threads run anyone's work.
    let isLasting: Bool

    init() {
        isLasting = task == 0 && (crealm_is_main_thread() || DispatchQueue.currentLabel == nil)
    }

    var isCurrent: Bool {
        crealm_thread_word() == word && crealm_current_task() == task && crealm_current_executor() == executor
    }
}
