import Foundation
import RealmModel
import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// The name of a class in realms, and files that were written when it was a shorter one.
@Suite("Names of nested classes", .timeLimit(.minutes(60)))
struct NestedNameTests {
    let directory = TemporaryDirectory()

    private var path: String { directory.path("shop.realm") }

    static func former(_ path: String) -> Realm.Configuration {
        OutdatedRealmTests.configuration(path, [FormerShop.Customer.self], version: 1)
    }

    static func nested(_ path: String, _ others: [ObjectBase.Type] = []) -> Realm.Configuration {
        OutdatedRealmTests.configuration(path, [Shop.Customer.self] + others, version: 1)
    }

    /// Two customers who are friends, written by the former program.
    private func fill() throws {
        try withNewRealm(Self.former(path)) { realm in
            try realm.write {
                let customer: (Int, String) -> [String: Any] = { id, city in
                    ["id": id, "city": city, "email": "\(id)@example.org", "address": ["street": "Street \(id)"]]
                }
                let gone = realm.create(FormerShop.Customer.self, value: customer(0, "Gone"))
                let first = realm.create(FormerShop.Customer.self, value: customer(1, "Oslo"))
                let second = realm.create(FormerShop.Customer.self, value: customer(2, "Rome"))
                first.friends.append(second)
                second.favourite = .object(first)
                realm.delete(gone)
            }
        }
    }

    private func storedSchema() throws -> DatabaseSchema {
        let file = try StorageFile.open(path: path, options: StorageOptions())
        try FileVerifier.verify(file.beginRead())
        return try #require(try SchemaReconciler.storedSchema(of: file.beginRead()))
    }

    @Test("A nested class is called by the types around it, whether it is private or local, or as it says itself")
    func names() {
        #expect(Shop.Customer.className() == "Shop_Customer")
        #expect(Shop.Later.Visit.className() == "Shop_Later_Visit")
        #expect(FormerShop.Customer.className() == "Customer")
        #expect(LocalClasses.hidden.className() == "LocalClasses_Hidden")
        #expect(LocalClasses.make().className() == "LocalClasses_Local")
        #expect(LocalClasses.makeNested().className() == "LocalClasses_Holder_Local")
        #expect(Int.Extension.className() == "Int_Extension")
        #expect(Keeper.className() == "Keeper")
        #expect(ModelClass.of(Shop.Later.Visit.self).formerNames == ["Later_Visit", "Visit"])
        #expect(ClassPath(typeName: "Module.Outer<Module.Other, [Swift.Int]>.Inner").name == "Outer_Inner")
        #expect(ClassPath(typeName: "Module.(unknown context at $7f00).Outer.Inner").name == "Outer_Inner")
        #expect(ClassPath(typeName: "Alone").name == "Alone")
    }

    @Test("Two classes of one name in different types are two classes")
    func noCollision() throws {
        let configuration = Self.nested(path, [Supplier.Customer.self])
        try withNewRealm(configuration) { realm in
            try realm.write {
                realm.create(Shop.Customer.self, value: ["id": 1, "address": ["street": "Street"]])
                realm.create(Supplier.Customer.self, value: ["vat": 2, "address": ["harbor": "Harbor"]])
            }
            #expect(realm.objects(Shop.Customer.self).first?.address?.street == "Street")
            #expect(realm.objects(Supplier.Customer.self).first?.address?.harbor == "Harbor")
            #expect(realm.schema["Supplier_Address"]?.isEmbedded == true)
        }
        #expect(
            try storedSchema().list.map { $0.storedName ?? $0.name }.sorted()
                == ["Shop_Address", "Shop_Customer", "Supplier_Address", "Supplier_Customer"]
        )
    }

    @Test("A file that has a class under its own name alone goes on, with its rows, keys, links and indexes")
    func formerFile() throws {
        try fill()
        let reference = try withNewRealm(Self.former(path)) { realm in
            try #require(realm.object(ofType: FormerShop.Customer.self, forPrimaryKey: 2)).rowKey
        }
        try withNewRealm(Self.nested(path)) { realm in
            let customers = realm.objects(Shop.Customer.self)
            #expect(customers.map(\.city) == ["Oslo", "Rome"])
            #expect(customers.map { $0.address?.street } == ["Street 1", "Street 2"])
            let second = try #require(realm.object(ofType: Shop.Customer.self, forPrimaryKey: 2))
            #expect(second.rowKey == reference)
            #expect(realm.resolve(ObjectReference<Shop.Customer>(className: "Customer", key: reference)) == second)
            #expect(second.fans.map(\.id) == [1])
            #expect(second.favourite.object(Shop.Customer.self)?.id == 1)
            #expect(customers.where { $0.city == "Rome" }.map(\.id) == [2])
            #expect(customers.filter("ANY friends == %@", second).map(\.id) == [1])
            #expect(customers.filter("ANY friends.city == 'Rome' AND address.street BEGINSWITH 'S'").map(\.id) == [1])
            #expect(realm.dynamicObjects("Shop_Customer").count == 2)
            #expect(realm.dynamicObjects("Customer").first?["city"] as? String == "Oslo")
            try realm.write {
                let values: [String: Any] = ["id": 3, "city": "Bern", "email": "3@example.org"]
                let third = realm.create(Shop.Customer.self, value: values)
                #expect(third.rowKey > reference)
                third.friends.append(second)
                #expect(second.fans.map(\.id) == [1, 3])
            }
        }
        let stored = try storedSchema()
        #expect(stored.list.count == 2)
        #expect(stored["Shop_Customer"]?.storedName == "Customer")
        #expect(stored["Customer"]?.isNameRecorded == true)
        #expect(stored["Shop_Customer"]?["address"]?.targetClass == "Shop_Address")
        try withNewRealm(Self.former(path)) { realm in
            #expect(realm.objects(FormerShop.Customer.self).map(\.id) == [1, 2, 3])
            #expect(realm.object(ofType: FormerShop.Customer.self, forPrimaryKey: 2)?.fans.map(\.id) == [1, 3])
        }
    }

    @Test("A program that says the shorter name goes on beside one that says the longer one, and both observe")
    func besideFormerProgram() async throws {
        try fill()
        let former = try await Program(Self.former(path))
        let seen = LockedArray<[String]>()
        let began = DispatchSemaphore(value: 0)
        let watch = Task { [path] in
            await OtherProgram(Self.former(path))
                .watch { cities in
                    seen.append(cities)
                    began.signal()
                }
        }
        #expect(await wait(for: began))
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(NestedNameTests.nested(path)) { realm in
                #expect(realm.objects(Shop.Customer.self).count == 2)
                try realm.write { realm.object(ofType: Shop.Customer.self, forPrimaryKey: 1)?.city = "Paris" }
            }
        }
        #expect(await wait(for: began))
        #expect(seen.all.last == ["Paris", "Rome"])
        #expect(await former.perform { $0.isOutdated } == false)
        try await former.write { realm in
            let first = realm.object(ofType: FormerShop.Customer.self, forPrimaryKey: 1)
            #expect(first?.city == "Paris")
            first?.city = "Lima"
            realm.object(ofType: FormerShop.Customer.self, forPrimaryKey: 2)?.favourite = .object(first!)
            #expect(realm.objects(FormerShop.Customer.self).filter("ANY friends.id == 2").first == first)
        }
        #expect(await wait(for: began))
        watch.cancel()
        let link = await former.perform { realm in
            realm.object(ofType: FormerShop.Customer.self, forPrimaryKey: 2)?
                .favourite.object(FormerShop.Customer.self)?
                .city
        }
        #expect(link == "Lima")
        await #expect(processExitsWith: .success) { [path = path as String] in
            try withNewRealm(NestedNameTests.nested(path)) { realm in
                #expect(realm.objects(Shop.Customer.self).map(\.city) == ["Lima", "Rome"])
            }
        }
        #expect(try storedSchema().list.count == 2)
    }

    @Test("Changes of a realm name classes as the program does that observes")
    func changesOfRealm() async throws {
        try fill()
        try withNewRealm(Self.nested(path)) { _ in }
        for configuration in [Self.former(path), Self.nested(path)] {
            let program = try await Program(configuration)
            let names = await program.namesOfChange { realm in
                try? realm.write { realm.dynamicObjects("Customer").first?["city"] = configuration.description }
            }
            #expect(names == [configuration.objectTypes![0].className()])
        }
    }

    @Test("Two classes that may be the one of the file are an error that says what to override")
    func twoCandidates() throws {
        try fill()
        let error = #expect(throws: Realm.Error.self) {
            try Realm(configuration: Self.nested(path, [Supplier.Customer.self]))
        }
        #expect(error?.code == .invalidInput)
        #expect(error?.message.contains("_realmObjectName()") == true)
        #expect(error?.message.contains("'Shop_Customer' and 'Supplier_Customer'") == true)
        // Nothing was written, and the class that was recorded is no longer in question.
        #expect(try storedSchema()["Customer"]?.isNameRecorded == false)
        try withNewRealm(Self.nested(path)) { #expect($0.objects(Shop.Customer.self).count == 2) }
        try withNewRealm(Self.nested(path, [Supplier.Customer.self])) { realm in
            #expect(realm.objects(Shop.Customer.self).count == 2)
            #expect(realm.objects(Supplier.Customer.self).count == 0)
        }
    }

    @Test("A class that declares the name under which the file has another one is an error")
    func nameIsTaken() throws {
        try fill()
        try withNewRealm(Self.nested(path)) { _ in }
        let error = #expect(throws: Realm.Error.self) {
            try Realm(configuration: Self.nested(path, [FormerShop.Customer.self]))
        }
        #expect(error?.message.contains("_realmObjectName()") == true)
    }

    @Test("A migration takes both names, and renames a property of the class")
    func migration() throws {
        try fill()
        try withNewRealm(Self.nested(path)) { _ in }
        for (name, key) in [("Customer", 1), ("Shop_Customer", 2)] {
            let copy = directory.path("copy\(key).realm")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try withNewRealm(Self.migrating(copy, name)) { realm in
                let customers = realm.objects(Shop.Later.Customer.self)
                #expect(customers.map(\.town) == ["Oslo", "Rome"])
                #expect(customers.map(\.visits) == [1, 2])
                #expect(customers.last?.fans.map(\.id) == [1])
            }
        }
    }

    private static func migrating(_ path: String, _ name: String) -> Realm.Configuration {
        OutdatedRealmTests.configuration(path, [Shop.Later.Customer.self], version: 2) { migration, _ in
            migration.renameProperty(onType: name, from: "city", to: "town")
            migration.enumerateObjects(ofType: name) { old, new in
                #expect(old?["city"] != nil)
                new?["visits"] = old?["id"]
            }
        }
    }

    @Test("A file that must not be written is read under the longer names")
    func readOnly() throws {
        try fill()
        var configuration = Self.nested(path)
        configuration.readOnly = true
        try withNewRealm(configuration) { realm in
            #expect(realm.objects(Shop.Customer.self).map { $0.address?.street } == ["Street 1", "Street 2"])
            #expect(realm.freeze().objects(Shop.Customer.self).last?.fans.first?.city == "Oslo")
        }
        #expect(try storedSchema()["Customer"]?.storedName == nil)
    }

    @Test("Compacted and copied files keep both names")
    func copies() throws {
        try fill()
        let copy = directory.path("copy.realm")
        try withNewRealm(Self.nested(path)) { try $0.writeCopy(toFile: URL(fileURLWithPath: copy)) }
        try withNewRealm(Self.former(copy)) { #expect($0.objects(FormerShop.Customer.self).count == 2) }
        try withNewRealm(Self.nested(copy, [Supplier.Customer.self])) { realm in
            #expect(realm.objects(Shop.Customer.self).count == 2)
        }
    }

    private func wait(for semaphore: DispatchSemaphore) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global()
                .async { continuation.resume(returning: semaphore.wait(timeout: .now() + 1_800) == .success) }
        }
    }
}

/// A program that observes the customers of a file under the shorter name.
private actor OtherProgram {
    private let configuration: Realm.Configuration

    init(_ configuration: Realm.Configuration) { self.configuration = configuration }

    func watch(_ note: @Sendable ([String]) -> Void) async {
        guard let realm = try? await Realm(configuration: configuration, actor: self) else { return }
        for await change in realm.objects(FormerShop.Customer.self).sorted(byKeyPath: "id").changes() {
            switch change {
            case .initial(let customers), .update(let customers, _, _, _): note(customers.map(\.city))
            case .error: return
            }
        }
    }
}

extension Program {
    /// The classes that the next change of the realm names.
    fileprivate func namesOfChange(_ write: (Realm) -> Void) async -> [String] {
        var changes = realm.changes.makeAsyncIterator()
        write(realm)
        return (await changes.next()?.classes.keys).map(Array.init) ?? []
    }
}
