import ActorRealm
import AsyncAlgorithms
import Dispatch
import Foundation

// What the snippets take for granted: models, and names for what their reader has at hand. They are built and never run.

func atHand<Value>() -> Value { fatalError("Snippets are built and never run.") }

// MARK: Models

class Dog: Object {
    @Persisted var name: String
    @Persisted var age: Int
}

class Account: Object {
    @Persisted var balance: Decimal128
}

class Address: EmbeddedObject {
    @Persisted var city: String
}

class Person: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name: String
    @Persisted var firstName: String
    @Persisted var age: Int
    @Persisted var address: Address?
    @Persisted var dogs: List<Dog>
    @Persisted var friends: List<Person>
    @Persisted var scores: Map<String, Int>
    @Persisted var tags: MutableSet<String>
    var initial: String { String(name.prefix(1)) }
}

class PersonProjection: Projection<Person> {
    @Projected(\Person.firstName) var name: String
}

class Step: Object {
    @Persisted var text: String
}

class Todo: Object {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted var name: String
    @Persisted var done: Bool
    @Persisted var isDone: Bool
}

class Order: Object {
    @Persisted var number: Int
}

class Email: Object {
    @Persisted var subject: String
    @Persisted var read: Bool
}

class Entry: Object {
    @Persisted var value: AnyRealmValue
}

enum Event: Sendable {
    case shows([String])
    case tick
}

actor Worker {
    func finish(_ reference: ObjectReference<Todo>) {}
    func finish(_ reference: ThreadSafeReference<Todo>) throws {}
}

// MARK: What is at hand

/// Whose methods the snippets are, so that `self` is an actor in them.
actor Reader {
    var realm: Realm { atHand() }
    var people: Results<Person> { atHand() }
    var readEmails: Results<Email> { atHand() }
    var results: Results<Person> { atHand() }
    var collection: AnyRealmCollection<Person> { atHand() }
    var list: List<Person> { atHand() }
    var map: Map<String, Int> { atHand() }
    var set: MutableSet<String> { atHand() }
    var owners: LinkingObjects<Person> { atHand() }
    var sections: SectionedResults<String, Person> { atHand() }
    var section: ResultsSection<String, Person> { atHand() }
    var projection: PersonProjection { atHand() }
    var object: Person { atHand() }
    var person: Person { atHand() }
    var todo: Todo { atHand() }
    var order: Order { atHand() }
    var entry: Entry { atHand() }
    var account: Account { atHand() }
    var configuration: Realm.Configuration {
        get { atHand() }
        set {}
    }
}

var worker: Worker { atHand() }
var migration: Migration { atHand() }
var token: NotificationToken { atHand() }
var queue: DispatchQueue { atHand() }
var name: String { atHand() }
/// What a message fills in.
var filled: String { atHand() }
var values: [String: Any] { atHand() }
var text: String { atHand() }
var damagedURL: URL { atHand() }
var newURL: URL { atHand() }
var channel: AsyncChannel<[String]> { atHand() }
var others: AsyncStream<[String]> { atHand() }
var logger: OneLineLog { atHand() }

struct OneLineLog {
    func warning(_ line: String) {}
}

func sends<Value: Sendable>(_ value: Value) {}
func report(_ values: Any...) {}
func show(_ values: Any...) {}
func send(_ values: Any...) {}
func log(_ values: Any...) {}
func update(_ values: Any...) {}
