import ActorRealm
import Dispatch
import Foundation
import Testing

/// Every spelling of the concurrency surface, as code written for RealmSwift has it: what does not compile here would not
/// compile there.
@Suite("The concurrency surface is spelled as in RealmSwift", .timeLimit(.minutes(60)))
struct ConcurrencySpellingTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm(objectTypes: [Todo.self, Person.self, Dog.self, Email.self])
    }

    private var url: URL { file.configuration.fileURL! }

    @Test("Opening synchronously")
    func openingSynchronously() throws {
        let realm1 = try Realm(configuration: file.configuration)
        let realm2 = try Realm(configuration: file.configuration, queue: nil)
        let realm3 = try Realm(fileURL: url)
        let queue = DispatchQueue(label: "serial")
        try queue.sync {
            let realm = try Realm(configuration: file.configuration, queue: queue)
            #expect(realm.isEmpty)
        }
        #expect(realm1.configuration == realm2.configuration)
        #expect(realm3.configuration.fileURL == url)
        _ = { Realm.Configuration.defaultConfiguration.objectTypes = nil }
        _ = { (queue: DispatchQueue) in try Realm(queue: queue) }
        _ = { try Realm() }
        #expect(realm1 == realm1)
    }

    @Test("Opening on actors")
    @MainActor
    func openingOnActors() async throws {
        let configuration = file.configuration
        let realm1 = try await Realm(configuration: configuration)
        let realm2 = try await Realm(configuration: configuration, actor: MainActor.shared)
        let realm3 = try await Realm.open(configuration: configuration)
        let realm4 = try await Realm.open(configuration: configuration, _isolation: MainActor.shared)
        #expect(realm1 == realm2 && realm2 == realm3 && realm3 == realm4)
        func forms() async throws {
            _ = try await Realm()
            _ = try await Realm(actor: MainActor.shared)
            _ = try await Realm.open()
        }
        _ = forms
    }

    @available(*, deprecated)
    @Test("Opening with a callback")
    func openingWithCallback() async {
        let configuration = file.configuration
        let queue = DispatchQueue(label: "callback")
        let isOpen = await withCheckedContinuation { continuation in
            let task: Realm.AsyncOpenTask = Realm.asyncOpen(configuration: configuration, callbackQueue: queue) {
                result in
                switch result {
                case .success(let realm): continuation.resume(returning: realm.isEmpty)
                case .failure(let error):
                    _ = error.localizedDescription
                    continuation.resume(returning: false)
                }
            }
            _ = { task.cancel() }
        }
        #expect(isOpen)
        _ = { Realm.asyncOpen { _ in } }
        _ = { Realm.asyncOpen(configuration: configuration) { (result: Result<Realm, Swift.Error>) in _ = result } }
    }

    @Test("Writing synchronously")
    func writingSynchronously() throws {
        let realm = try Realm(configuration: file.configuration)
        let tokens: [NotificationToken] = []
        let todo: Todo = try realm.write { realm.create(Todo.self, value: ["name": "a"]) }
        #expect(todo.name == "a")
        try realm.write(withoutNotifying: tokens) { todo.name = "b" }
        realm.beginWrite()
        #expect(realm.isInWriteTransaction)
        try realm.commitWrite()
        realm.beginWrite()
        try realm.commitWrite(withoutNotifying: tokens)
        realm.beginWrite()
        realm.cancelWrite()
        try realm.write {
            realm.cancelWrite()
            realm.beginWrite()
            todo.name = "c"
            try realm.commitWrite()
        }
        #expect(todo.name == "c")
    }

    @Test("Writing with callbacks")
    @MainActor
    func writingWithCallbacks() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let id: Realm.AsyncTransactionId = await withCheckedContinuation { continuation in
            var id: Realm.AsyncTransactionId = 0
            id = realm.writeAsync {
                realm.create(Todo.self, value: ["name": "a"])
            } onComplete: { (error: Swift.Error?) in
                #expect(error == nil)
                continuation.resume(returning: id)
            }
            #expect(realm.isPerformingAsynchronousWriteOperations)
        }
        let later: AsyncTransactionId = id
        try realm.cancelAsyncWrite(later)
        realm.writeAsync { realm.deleteAll() }
        realm.writeAsync({ realm.deleteAll() }, onComplete: nil)
        realm.writeAsync({ realm.deleteAll() })
        await withCheckedContinuation { continuation in
            realm.beginAsyncWrite {
                realm.create(Todo.self, value: ["name": "b"])
                realm.commitAsyncWrite(allowGrouping: true) { error in
                    #expect(error == nil)
                    continuation.resume()
                }
            }
        }
        let begun = realm.beginAsyncWrite { realm.commitAsyncWrite() }
        try realm.cancelAsyncWrite(begun)
        realm.beginAsyncWrite {
            realm.commitAsyncWrite { _ in }
        }
        realm.beginAsyncWrite {
            realm.commitAsyncWrite(isGroupingAllowed: true)
        }
        await withCheckedContinuation { continuation in
            realm.writeAsync {
            } onComplete: { _ in
                continuation.resume()
            }
        }
        #expect(realm.objects(Todo.self).count == 1)
    }

    @Test("Writing and refreshing from asynchronous code")
    @MainActor
    func writingAsynchronously() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let todo = try await realm.asyncWrite { realm.create(Todo.self, value: ["name": "a"]) }
        try await realm.asyncWrite { todo.name = "b" }
        try await realm.asyncWrite(_isolation: MainActor.shared) { todo.name = "c" }
        #expect(!(await realm.asyncRefresh()))
        await realm.asyncRefresh(_isolation: MainActor.shared)
        #expect(todo.name == "c")
        try await realm.asyncWrite { #expect(realm.isPerformingAsynchronousWriteOperations) }
        #expect(!realm.isPerformingAsynchronousWriteOperations)
    }

    @Test("Versions, freezing and thawing")
    @MainActor
    func freezing() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let person = Person(name: "Jana")
        try realm.write {
            realm.add(person)
            person.dogs.append(Dog(value: ["name": "Rex", "age": 3] as [String: Any]))
        }
        realm.autorefresh = false
        #expect(!realm.refresh())
        #expect(!realm.isFrozen)
        let frozen: Realm = realm.freeze()
        let thawed: Realm = frozen.thaw()
        #expect(frozen.isFrozen && thawed == realm)
        let frozenPerson: Person = realm.freeze(person)
        let thawedPerson: Person? = realm.thaw(frozenPerson)
        #expect(frozenPerson.isFrozen && thawedPerson?.name == "Jana")
        let frozenPeople: Results<Person> = realm.freeze(realm.objects(Person.self))
        let frozenDogs: List<Dog> = realm.freeze(person.dogs)
        #expect(frozenPeople.isFrozen && frozenDogs.isFrozen)
        let people: Results<Person>? = frozenPeople.thaw()
        let dogs: List<Dog>? = frozenDogs.thaw()
        #expect(people?.count == 1 && dogs?.count == 1)
        #expect(person.freeze().thaw()?.isInvalidated == false)
        realm.invalidate()
        #expect(person.isInvalidated)
    }

    @Test("Observing")
    @MainActor
    func observing() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let person = Person(name: "Jana")
        try realm.write { realm.add(person) }
        let block: Realm.NotificationBlock = { (notification: Realm.Notification, realm: Realm) in
            switch notification {
            case .didChange, .refreshRequired: _ = (notification.rawValue, realm)
            }
        }
        let queue = DispatchQueue(label: "notifications")
        let people = realm.objects(Person.self)
        let tokens: [NotificationToken] = [
            realm.observe(block),
            people.observe { (change: RealmCollectionChange) in _ = change },
            people.observe(on: nil) { _ in },
            people.observe(keyPaths: ["name"], on: queue) { change in
                switch change {
                case .initial(let people): _ = people.count
                case .update(let people, let deletions, let insertions, let modifications):
                    _ = (people.count, deletions, insertions, modifications)
                case .error(let error): _ = error
                }
            },
            people.observe(keyPaths: [\Person.name]) { _ in },
            person.dogs.observe { _ in },
            person.dogs.observe(keyPaths: [\Dog.age], on: queue) { _ in },
            person.observe { (change: ObjectChange<Person>) in
                switch change {
                case .change(let object, let properties):
                    for property in properties {
                        _ = (object.name, property.name, property.oldValue, property.newValue)
                    }
                case .error(let error): _ = error.code
                case .deleted: break
                }
            },
            person.observe(keyPaths: ["name"]) { _ in },
            person.observe(keyPaths: [\Person.name], on: queue) { _ in },
        ]
        let others = await [
            people.observe(on: MainActor.shared) { _, change in _ = change },
            people.observe(keyPaths: ["name"], on: MainActor.shared) { _, _ in },
            people.observe(keyPaths: [\Person.name], on: BackgroundActor.shared) { actor, change in _ = (actor, change)
            },
            person.observe(on: BackgroundActor.shared) { actor, change in _ = (actor, change) },
            person.observe(keyPaths: ["name"], on: BackgroundActor.shared) { _, _ in },
            person.observe(keyPaths: [\Person.name], on: MainActor.shared) { _, _ in },
            people.observe(on: MainActor.shared, _isolation: MainActor.shared) { _, _ in },
        ]
        for token in tokens + others {
            let ended: Bool = token.invalidate()
            #expect(ended)
            #expect(!token.invalidate())
        }
        #expect(!NotificationToken().invalidate())
        #expect(Realm.Notification.didChange.rawValue == "RLMRealmDidChangeNotification")
        #expect(Realm.Notification.refreshRequired.rawValue == "RLMRealmRefreshRequiredNotification")
    }

    @Test("Handing over")
    @MainActor
    func handingOver() async throws {
        func confined(_ value: some ThreadConfined) -> Bool {
            value.realm != nil && !value.isInvalidated && !value.isFrozen && value.freeze().isFrozen
                && value.thaw() != nil
        }
        let realm = try await Realm(configuration: file.configuration)
        let person = Person(name: "Jana")
        try realm.write { realm.add(person) }
        #expect(confined(person) && confined(person.dogs) && confined(realm.objects(Person.self)))
        let reference = ThreadSafeReference(to: person)
        #expect(!reference.isInvalidated)
        let resolved: Person? = realm.resolve(reference)
        #expect(resolved?.name == "Jana" && reference.isInvalidated)
        let list: List<Dog>? = realm.resolve(ThreadSafeReference(to: person.dogs))
        let results: Results<Person>? = realm.resolve(
            ThreadSafeReference<Results<Person>>(to: realm.objects(Person.self))
        )
        #expect(list?.isEmpty == true && results?.count == 1)
        let box = ThreadSafe(wrappedValue: person)
        #expect(box.wrappedValue?.name == "Jana")
        box.wrappedValue = nil
        final class Holder: Sendable {
            let person: ThreadSafe<Person>
            init(_ person: Person) { self.person = ThreadSafe(wrappedValue: person) }
        }
        #expect(Holder(person).person.wrappedValue?.name == "Jana")
    }

    @Test("Errors")
    func errors() throws {
        var configuration = file.configuration
        configuration.readOnly = true
        do {
            _ = try Realm(configuration: configuration)
            Issue.record("the file is missing")
        } catch Realm.Error.fileNotFound {}
        do {
            _ = try Realm(configuration: configuration)
        } catch let error as Realm.Error where error.code == .fileNotFound {
            #expect(error.fileURL == configuration.fileURL)
            #expect(!error.localizedDescription.isEmpty)
            #expect(error.errorCode == Realm.Error.Code.fileNotFound.rawValue)
            _ = error.userInfo
        }
        do {
            _ = try Realm(configuration: configuration)
        } catch {
            let nsError = error as NSError
            #expect(nsError.code == Realm.Error.Code.fileNotFound.rawValue)
            #expect(nsError.code == Realm.Error.fileNotFound.rawValue)
        }
        let failure: any Swift.Error = Realm.Error(.fail)
        switch failure {
        case Realm.Error.fail: break
        default: Issue.record("no match")
        }
        #expect(Realm.Error(.fail) == Realm.Error(.fail))
        #expect(Realm.Error(.fail) != Realm.Error(.fileAccess))
        #expect(Realm.Error.callFailed == Realm.Error.fail)
        let codes: [Realm.Error.Code] = [
            .fail, .fileAccess, .filePermissionDenied, .fileExists, .fileNotFound, .fileFormatUpgradeRequired,
            .incompatibleLockFile, .addressSpaceExhausted, .schemaMismatch, .alreadyOpen, .invalidInput,
            .outOfDiskSpace,
            .incompatibleSession, .unsupportedFileFormatVersion, .subscriptionFailed, .fileOperationFailed,
            .invalidDatabase, .incompatibleHistories,
        ]
        #expect(codes.map(\.rawValue) == [1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 16, 18, 19, 20, 21])
        #expect(Set([Realm.Error(.fail), Realm.Error(.fail)]).count == 1)
    }

    @Test("Configurations")
    func configurations() {
        var configuration = Realm.Configuration(
            fileURL: url,
            inMemoryIdentifier: nil,
            encryptionKey: nil,
            readOnly: false,
            schemaVersion: 3,
            migrationBlock: { migration, oldSchemaVersion in _ = (migration, oldSchemaVersion) },
            deleteRealmIfMigrationNeeded: false,
            shouldCompactOnLaunch: { totalBytes, usedBytes in usedBytes * 2 < totalBytes },
            objectTypes: [Todo.self, Person.self],
            seedFilePath: nil
        )
        configuration.maximumNumberOfActiveVersions = 16
        configuration.seedFilePath = url
        configuration.encryptionKey = Data(count: 64)
        configuration.inMemoryIdentifier = "memory"
        #expect(configuration.fileURL == nil)
        configuration.fileURL = url
        #expect(configuration.inMemoryIdentifier == nil)
        configuration.deleteRealmIfMigrationNeeded = true
        let block: MigrationBlock? = configuration.migrationBlock
        configuration.migrationBlock = block
        configuration.shouldCompactOnLaunch = nil
        #expect(configuration.schemaVersion == 3)
        #expect(configuration.description.contains(url.path))
        let shared: Realm.Configuration = .defaultConfiguration
        // Compiled only: other tests set it.
        _ = { Realm.Configuration.defaultConfiguration = shared }
    }

    @Test("Files and logs")
    func files() throws {
        let configuration = file.configuration
        let copy = url.deletingLastPathComponent().appendingPathComponent("copy.realm")
        try Realm.performMigration(for: configuration)
        func copies() throws {
            let realm = try Realm(configuration: configuration)
            try realm.writeCopy(toFile: copy)
            do {
                try realm.writeCopy(toFile: copy, encryptionKey: nil)
                Issue.record("the copy exists")
            } catch Realm.Error.fileExists {}
            var other = configuration
            other.fileURL = copy.appendingPathExtension("2")
            try realm.writeCopy(configuration: other)
        }
        try copies()
        #expect(Realm.fileExists(for: configuration))
        let isDeleted: Bool = try Realm.deleteFiles(for: configuration)
        #expect(isDeleted)

        let messages = EventLog()
        var logger = Logger(level: .detail) { (level: LogLevel, message: String) in
            messages.note("\(level): \(message)")
        }
        logger.level = .trace
        #expect(logger.level == .trace)
        let before = Logger.shared
        Logger.shared = logger
        #expect(Logger.shared.level == .trace)
        Logger.shared.level = .off
        #expect(before.level == .warn)
        let levels: [LogLevel] = [.off, .fatal, .error, .warn, .info, .detail, .debug, .trace, .all]
        #expect(levels.count == 9)
    }
}
