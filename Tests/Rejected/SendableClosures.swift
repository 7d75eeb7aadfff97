import ActorRealm
import Dispatch

@MainActor
private func capturesInQueue(_ todo: Todo) {
    DispatchQueue.global().async { print(todo.name) }  // error: capture of 'todo' with non-Sendable type 'Todo'
}

@MainActor
private func capturesInSectionKey(_ todo: Todo, _ todos: Results<Todo>) {
    _ = todos.sectioned(
        bySendable: { $0.name + todo.name },  // error: capture of 'todo' with non-Sendable type 'Todo'
        sortDescriptors: [SortDescriptor(keyPath: "name")]
    )
    _ = todos.sectioned(by: { $0.name + todo.name }, sortDescriptors: [SortDescriptor(keyPath: "name")])
}

@MainActor
private func capturesWrapper(_ todo: Todo) {
    @ThreadSafe var reference: Todo? = todo
    DispatchQueue.global()
        .async { print(reference?.name ?? "") }  // error: reference to captured var 'reference'
}
