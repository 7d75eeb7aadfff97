import ActorRealm
import Foundation

final class Shelf: EmbeddedObject {
    @Persisted var room: Int
    @Persisted var label: String?
}

final class Author: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted(indexed: true) var born: Int
    @Persisted var books: List<Book>
    @Persisted(originProperty: "writers") var written: LinkingObjects<Book>
}

final class Book: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var title: String
    @Persisted var price: Double
    @Persisted var added: Date?
    @Persisted var cover: Data?
    @Persisted var isLent: Bool
    @Persisted var cost: Decimal128
    @Persisted var mark: UUID
    @Persisted var object: ObjectId
    @Persisted var anything: AnyRealmValue
    @Persisted var sequel: Book?
    @Persisted var shelf: Shelf?
    @Persisted var tags: List<String>
    @Persisted var writers: MutableSet<Author>
    @Persisted var ratings: Map<String, Int>
}

/// A realm with every kind of property, and what a program does with it.
enum Library {
    static var types: [ObjectBase.Type] { [Author.self, Book.self, Shelf.self] }

    private static func configuration(_ url: URL) -> Realm.Configuration {
        Realm.Configuration(fileURL: url, objectTypes: types)
    }

    /// Makes a closed file; files of other numbers are smaller or larger, and written in more commits.
    static func make(at url: URL, number: Int) throws {
        let realm = try Realm(configuration: configuration(url))
        let count = [4, 20, 90, 40][number % 4]
        for start in stride(from: 0, to: count, by: number % 4 == 3 ? 9 : count) {
            try realm.write {
                for id in start..<min(count, start + (number % 4 == 3 ? 9 : count)) { add(id, to: realm) }
                if number % 4 == 3, let gone = realm.object(ofType: Book.self, forPrimaryKey: start - 4) {
                    realm.delete(gone)
                }
            }
        }
        realm.close()
    }

    private static func add(_ id: Int, to realm: Realm) {
        let name = "author \(id / 3)"
        let author = realm.create(Author.self, value: ["name": name, "born": 1900 + id % 70], update: .all)
        let book = Book()
        book.id = id
        book.title = id % 11 == 0 ? String(repeating: "a long title ", count: 60) : "title \(id % 29)"
        book.price = Double(id) * 0.25
        book.added = id % 3 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(id) * 86_400)
        book.cover = id % 40 == 7 ? Data(repeating: UInt8(id % 256), count: 9_000) : nil
        book.isLent = id % 2 == 0
        book.cost = Decimal128(value: id)
        book.mark = UUID(uuidString: String(format: "00000000-0000-0000-0000-%012d", id)) ?? UUID()
        book.anything = [.int(id), .string("any"), .none, .double(1.5)][id % 4]
        book.shelf = id % 5 == 0 ? Shelf(value: ["room": id % 7, "label": "shelf"]) : nil
        book.tags.append(objectsIn: (0..<id % 6).map { "tag \($0)" })
        for key in 0..<id % 3 { book.ratings["reader \(key)"] = key }
        realm.add(book)
        book.sequel = realm.object(ofType: Book.self, forPrimaryKey: id / 2)
        book.writers.insert(author)
        author.books.append(book)
    }

    /// Opens, verifies, and if nothing is found, reads everything, asks and writes.
    static func use(_ url: URL) throws {
        let realm = try Realm(configuration: configuration(url))
        defer { realm.close() }
        try realm.verify()
        var sum = 0
        for author in realm.objects(Author.self) {
            sum &+= author.name.utf8.count &+ author.born &+ author.books.count &+ author.written.count
        }
        for book in realm.objects(Book.self) {
            sum &+= book.title.utf8.count &+ (book.cover?.count ?? 0) &+ (book.isLent ? 1 : 0)
            sum &+= book.anything.hashValue
            sum &+= book.price.hashValue &+ book.added.hashValue &+ book.cost.hashValue &+ book.mark.hashValue
            sum &+= book.tags.reduce(0) { $0 &+ $1.utf8.count } &+ book.ratings.reduce(0) { $0 &+ $1.value }
            sum &+= (book.sequel?.id ?? 0) &+ (book.shelf?.room ?? 0) &+ book.writers.count &+ book.object.hashValue
        }
        sum &+= realm.objects(Book.self).where { $0.title == "title 3" }.count
        sum &+= realm.objects(Book.self).where { $0.price > 3 && $0.tags.count > 2 }.sorted(by: \.price).first?.id ?? 0
        sum &+= realm.object(ofType: Author.self, forPrimaryKey: "author 2")?.born ?? 0
        try realm.write {
            for book in realm.objects(Book.self).where({ $0.isLent == true }) {
                book.title += "!"
                book.tags.removeAll()
            }
            realm.delete(realm.objects(Author.self).where { $0.born < 1_905 })
            realm.create(Book.self, value: ["id": sum], update: .modified)
        }
        try realm.verify()
    }
}
