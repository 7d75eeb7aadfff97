import ActorRealm
import Dispatch

@MainActor
private func capturesInQueue(_ todo: Todo) {
    DispatchQueue.global().async { print(todo.name) }  // error: capture of 'todo' with non-Sendable type 'Todo'
}

@MainActor
private func capturesWrapper(_ todo: Todo) {
    @ThreadSafe var reference: Todo? = todo
    DispatchQueue.global()
        .async { print(reference?.name ?? "") }  // error: reference to captured var 'reference'
}
