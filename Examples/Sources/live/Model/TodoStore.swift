import ActorRealm
import Foundation

/// The actor that reads and writes the todos for those who ask: over HTTP, or on the command line of another process.
actor TodoStore {
    private var realm: Realm!

    init(configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    /// No todo has this identifier.
    struct Unknown: Error, CustomStringConvertible {
        let id: String

        var description: String { "There is no task \"\(id)\"." }
    }

    /// The todos as of the newest version, whichever process committed it.
    func list() -> [TodoRecord] {
        realm.refresh()
        return Todo.list(in: realm).map { TodoRecord($0) }
    }

    /// Adds a todo; it is on the disk when this returns.
    ///
    /// The value is made in the transaction: when this task goes on, another process may have removed the todo again.
    func add(_ text: TodoText, isDone: Bool = false) async throws -> TodoRecord {
        try await realm.asyncWrite {
            let todo = Todo()
            todo._id = ObjectId.generate()
            todo.text = text.value
            todo.isDone = isDone
            todo.created = Date()
            todo.changed = todo.created
            realm.add(todo)
            return TodoRecord(todo)
        }
    }

    /// Changes what is given and differs; the rest stays as somebody else may have written it meanwhile.
    func edit(_ id: String, text: TodoText?, isDone: Bool?) async throws -> TodoRecord {
        try await realm.asyncWrite {
            let todo = try existing(id)
            if let text, text.value != todo.text {
                todo.text = text.value
                todo.changed = Date()
            }
            if let isDone, isDone != todo.isDone {
                todo.isDone = isDone
                todo.changed = Date()
            }
            return TodoRecord(todo)
        }
    }

    /// Removes a todo and tells what it was.
    func remove(_ id: String) async throws -> TodoRecord {
        try await realm.asyncWrite {
            let todo = try existing(id)
            let record = TodoRecord(todo)
            realm.delete(todo)
            return record
        }
    }

    /// The newest version of the file, and the versions that readers of all processes stand at.
    func versions() -> (newest: UInt64, active: [Realm.ActiveVersion]) {
        realm.refresh()
        return (realm.frozen.version, realm.activeVersions)
    }

    /// Closes the realm; the file closes with its last user.
    func close() {
        realm.close()
    }

    private func existing(_ id: String) throws -> Todo {
        guard let key = try? ObjectId(string: id), let todo = realm.object(ofType: Todo.self, forPrimaryKey: key) else {
            throw Unknown(id: id)
        }
        return todo
    }
}
