import CRealmShims

/// The thread that opened a realm outside every actor and queue, and the task it ran then.
///
/// The numbers are never given out again: what is left of a realm whose thread or task has ended can be used nowhere.
struct ThreadIsolation: Hashable, Sendable {
    let thread = crealm_current_thread()
    /// The task's number; 0 outside every task.
    let task = crealm_current_task()

    var isCurrent: Bool {
        crealm_current_executor().identity == 0 && crealm_current_thread() == thread && crealm_current_task() == task
    }
}
