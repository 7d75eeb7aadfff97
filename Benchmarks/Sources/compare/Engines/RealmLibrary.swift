import ActorRealm
import People

/// Documents in a realm.
final class RealmLibrary: Library {
    private let realm: Realm

    init(path: String, isDurable: Bool, isolation: isolated (any Actor)?) throws {
        let configuration = RealmEngine.configuration(path, isDurable: isDurable, objectTypes: [Document.self])
        realm = try Realm(configuration: configuration, isolation: isolation)
    }

    func insert(_ ids: Range<Int>) throws {
        try realm.write {
            for id in ids { realm.add(Document(DocumentData(id))) }
        }
    }

    func read(_ ids: [Int]) -> Int {
        realm.refresh()
        var sum = 0
        for id in ids {
            guard let document = realm.object(ofType: Document.self, forPrimaryKey: id) else { continue }
            sum &+= document.views &+ document.text.utf8.count
        }
        return sum
    }

    func update(_ ids: [Int], views: Int) throws {
        try realm.write {
            for id in ids { realm.object(ofType: Document.self, forPrimaryKey: id)?.views = views }
        }
    }
}
