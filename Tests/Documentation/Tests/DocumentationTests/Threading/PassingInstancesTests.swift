import ActorRealm
import Dispatch
import Foundation
import Testing

@Suite("Pass instances across threads", .timeLimit(.minutes(60)))
struct PassingInstancesTests {
    let file: TemporaryRealm

    init() throws {
        file = try TemporaryRealm()
    }

    @Test("A realm opened on a serial queue is used there")
    func serialQueue() async throws {
        let serialQueue = DispatchQueue(label: "serial-queue")
        let configuration = file.configuration
        let count = await withCheckedContinuation { continuation in
            serialQueue.async {
                let realm = try! Realm(configuration: configuration, queue: serialQueue)
                try! realm.write { realm.add(Person(name: "Jana")) }
                continuation.resume(returning: realm.objects(Person.self).count)
            }
        }
        #expect(count == 1)
    }

    @Test("A thread-safe reference made on one thread is resolved on another, inside the transaction")
    @MainActor
    func reference() async throws {
        let configuration = file.configuration
        let person = Person(name: "Jana")
        let realm = try await Realm(configuration: configuration)
        try await realm.asyncWrite { realm.add(person) }
        let personRef = ThreadSafeReference(to: person)
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "background")
                .async {
                    let realm = try! Realm(configuration: configuration)
                    try! realm.write {
                        guard let person = realm.resolve(personRef) else {
                            return
                        }
                        person.name = "Jana Novak"
                    }
                    continuation.resume()
                }
        }
        await realm.asyncRefresh()
        #expect(person.name == "Jana Novak")
    }

    @Test("A @ThreadSafe parameter is used as the optional that it wraps")
    @MainActor
    func threadSafeParameter() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let person = Person(name: "Jana")
        try await realm.asyncWrite { realm.add(person) }
        await rename(person: person)
        await realm.asyncRefresh()
        #expect(person.name == "Jasmin")
    }

    @MainActor
    private func rename(@ThreadSafe person: Person?) async {
        let newName = await findName()
        let realm = try! await Realm(configuration: file.configuration)
        try! realm.write {
            person?.name = newName
        }
    }

    private func findName() async -> String { "Jasmin" }

    @Test("A @ThreadSafe variable is nil once its object is deleted")
    @MainActor
    func threadSafeVariable() async throws {
        let realm = try await Realm(configuration: file.configuration)
        let person = Person(name: "Jana")
        try await realm.asyncWrite { realm.add(person) }
        @ThreadSafe var personRef: Person? = person
        #expect(personRef?.name == "Jana")
        try await realm.asyncWrite { realm.delete(person) }
        #expect(personRef == nil)
    }

    @Test("The recipe hands a query over; it is evaluated anew on the other thread")
    @MainActor
    func recipe() async throws {
        let realm = try await Realm(configuration: file.configuration)
        try await realm.asyncWrite {
            for number in 0..<10 {
                realm.create(Email.self, value: ["subject": "Number \(number)", "read": number < 6] as [String: Any])
            }
        }
        let log = EventLog()
        let readEmails = realm.objects(Email.self).where { $0.read == true }
        realm.writeInBackground(readEmails) { realm, readEmails in
            guard let readEmails else {
                return
            }
            realm.delete(readEmails)
        } completion: { error in
            log.note(error.map { "\($0)" } ?? "done")
        }
        #expect(await log.contains("done"))
        await realm.asyncRefresh()
        #expect(realm.objects(Email.self).count == 4)
        #expect(readEmails.isEmpty)
    }
}

extension Realm {
    /// The recipe's extension: two lines at the call site for work on a background thread.
    fileprivate func writeInBackground<T: ThreadConfined>(
        _ passedObject: T,
        block: @escaping @Sendable (Realm, T?) -> Void,
        completion: @escaping @Sendable ((any Swift.Error)?) -> Void
    ) {
        let objectReference = ThreadSafeReference(to: passedObject)
        let configuration = self.configuration
        DispatchQueue(label: "background", autoreleaseFrequency: .workItem)
            .async {
                do {
                    let realm = try Realm(configuration: configuration)
                    try realm.write {
                        // Resolved within the transaction, it stands at the newest version.
                        let object = realm.resolve(objectReference)
                        block(realm, object)
                    }
                    completion(nil)
                } catch {
                    completion(error)
                }
            }
    }
}
