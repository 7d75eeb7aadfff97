import ActorRealm
import Foundation
import Testing

/// No two objects have the same value of a unique property, or the same values of a unique compound index.
@Suite struct UniquePropertyTests {
    private func code(of body: () throws -> Void) -> Realm.Error.Code? {
        do {
            try body()
            return nil
        } catch let error as Realm.Error {
            return error.code
        } catch {
            return .fail
        }
    }

    @Test func `the schema says which properties are unique, and together with which`() throws {
        let realm = try ruledRealm()
        let schema = try #require(realm.schema["Member"])
        #expect(schema["email"]?.isUnique == true && schema["email"]?.isIndexed == true)
        #expect(schema["badge"]?.isUnique == true && schema["id"]?.isUnique == true)
        #expect(schema["country"]?.isUnique == false)
        #expect(
            schema.compoundIndexes == [
                CompoundIndex("country", "number", unique: true), CompoundIndex("country", "id"),
            ]
        )
        #expect(realm.dynamicObjects("Member").count == 0)
    }

    @Test func `insert throws and leaves everything as it was`() throws {
        let realm = try ruledRealm()
        try realm.write {
            realm.add(Member(1, "ann", badge: 7, country: "at"))
            let twin = Member(2, "ann", country: "de")
            twin.friend = Member(3, "bo")
            do {
                try realm.insert(twin)
                Issue.record("two members have one address")
            } catch let error as Realm.Error {
                #expect(error.code == .duplicateValue)
                #expect(error.message.contains("existing value 'ann' of the unique property 'Member.email'"))
            }
            #expect(twin.realm == nil && twin.friend?.realm == nil && twin.email == "ann" && twin.friend?.email == "bo")
            #expect(realm.objects(Member.self).count == 1)
            #expect(code { try realm.insert(Member(4, "cy", badge: 7)) } == .duplicateValue)
            #expect(code { try realm.insert(Member(5, "dee", country: "at", number: 1)) } == .duplicateValue)
            #expect(code { try realm.insert(Member(1, "eve")) } == .duplicatePrimaryKey)
            // A linked object can be the duplicate.
            let parent = Member(6, "fay")
            parent.friend = Member(7, "ann")
            #expect(code { try realm.insert(parent) } == .duplicateValue)
            #expect(parent.realm == nil && parent.friend?.realm == nil)
            twin.email = "anna"
            try realm.insert(twin)
            #expect(twin.realm === realm && twin.friend?.email == "bo")
        }
        #expect(realm.objects(Member.self).sorted(byKeyPath: "id").map(\.id) == [1, 2, 3])
        try realm.verify()
    }

    @Test func `what was assigned before a copy is unique in it and behind it`() throws {
        let realm = try ruledRealm()
        let file = TestFile()
        let copy = URL(fileURLWithPath: file.directory.path("copy.realm"))
        try realm.write {
            realm.add(Member(1, "ann"))
            realm.add(Member(2, "bo"))
        }
        let found = code {
            try realm.write {
                realm.object(ofType: Member.self, forPrimaryKey: 2)?.email = "ann"
                #expect(code { try realm.writeCopy(toFile: copy) } == .duplicateValue)
            }
        }
        #expect(found == .duplicateValue, "the copy that was refused has forgotten what is to be checked")
        #expect(!FileManager.default.fileExists(atPath: copy.path))
        try realm.write {
            let two = realm.object(ofType: Member.self, forPrimaryKey: 2)
            two?.email = "cy"
            try realm.writeCopy(toFile: copy)
            two?.email = "bo"
        }
        var configuration = realm.configuration
        configuration.inMemoryIdentifier = nil
        configuration.fileURL = copy
        let copied = try Realm(configuration: configuration)
        #expect(copied.objects(Member.self).map(\.email) == ["ann", "cy"])
        try copied.verify()
        #expect(realm.objects(Member.self).where { $0.email == "ann" }.count == 1)
        try realm.verify()
    }

    @Test func `what only can be rolled back is not copied`() throws {
        let realm = try ruledRealm()
        let file = TestFile()
        let copy = URL(fileURLWithPath: file.directory.path("copy.realm"))
        try realm.write {
            realm.add(Member(1, "ann"))
            realm.add(Member(2, "bo"))
        }
        let found = code {
            try realm.write {
                let two = realm.object(ofType: Member.self, forPrimaryKey: 2)
                #expect(code { try two?.setValues(["number": 7, "email": "ann"]) } == .duplicateValue)
                #expect(code { try realm.writeCopy(toFile: copy) } == .duplicateValue)
            }
        }
        #expect(found == .duplicateValue)
        #expect(!FileManager.default.fileExists(atPath: copy.path))
    }

    @Test func `insert takes dictionaries, and throws`() throws {
        let realm = try ruledRealm()
        try realm.write {
            let first = try realm.insert(
                Member.self,
                value: ["id": 1, "email": "ann", "friend": [2, "bo", nil, "it"] as [Any?]]
            )
            #expect(first.friend?.email == "bo")
            #expect(
                code { try realm.insert(Member.self, value: ["id": 3, "email": "bo", "number": 3]) } == .duplicateValue
            )
            #expect(
                code {
                    try realm.insert(
                        Member.self,
                        value: ["id": 4, "email": "cy", "number": 4, "friend": [5, "ann", nil, "", 5] as [Any?]]
                            as [String: Any]
                    )
                } == .duplicateValue
            )
            #expect(code { try realm.insert(Member.self, value: ["id": 1]) } == .duplicatePrimaryKey)
        }
        #expect(realm.objects(Member.self).count == 2)
        try realm.verify()
    }

    @Test func `what is assigned is checked when the transaction commits`() throws {
        let realm = try ruledRealm()
        try realm.write {
            realm.add(Member(1, "ann", badge: 1))
            realm.add(Member(2, "bo", badge: 2))
        }
        let members = realm.objects(Member.self).sorted(byKeyPath: "id")
        try realm.write {
            swap(&members[0].email, &members[1].email)
            (members[0].badge, members[1].badge) = (nil, nil)
        }
        #expect(members.map(\.email) == ["bo", "ann"])
        var message = ""
        #expect(
            code {
                do {
                    try realm.write {
                        members[0].number = 50
                        members[1].number = 50
                    }
                } catch let error as Realm.Error {
                    message = error.message
                    throw error
                }
            } == .duplicateValue
        )
        #expect(message.contains("existing value ('', 50) of the unique combination 'Member.(land, number)'"))
        #expect(members.map(\.number) == [1, 2] && !realm.isInWriteTransaction)
        realm.beginWrite()
        members[0].email = "ann"
        #expect(code { try realm.commitWrite() } == .duplicateValue)
        #expect(!realm.isInWriteTransaction)
        try realm.write { members[0].email = "eve" }
    }

    @MainActor
    @Test func `asynchronous writes throw`() async throws {
        let realm = try await Realm(
            configuration: Realm.Configuration(inMemoryIdentifier: "ruled-async", objectTypes: [Member.self])
        )
        try await realm.asyncWrite {
            realm.add(Member(1, "ann"))
            realm.add(Member(2, "bo"))
        }
        await #expect(throws: Realm.Error.self) {
            try await realm.asyncWrite { realm.objects(Member.self).last?.email = "ann" }
        }
        await #expect(throws: Realm.Error.self) { try await realm.asyncWrite { try realm.insert(Member(3, "bo")) } }
        #expect(realm.objects(Member.self).map(\.email).sorted() == ["ann", "bo"])
    }

    @Test func `an update of an object may keep its own values`() throws {
        let realm = try ruledRealm()
        try realm.write {
            realm.add(Member(1, "ann", badge: 1))
            realm.add(Member(1, "ann", badge: 2), update: .modified)
            realm.add(Member(1, "ann", badge: 2), update: .all)
            realm.create(Member.self, value: ["id": 1, "badge": 3], update: .modified)
            realm.add(Member(2, "bo", badge: 2))
        }
        #expect(realm.objects(Member.self).map(\.badge) == [3, 2])
    }

    @Test func `adding a second object with a unique value traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try ruledRealm()
            try realm.write {
                realm.add(Member(1, "ann"))
                realm.add(Member(2, "ann"))
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("with an existing value 'ann' of the unique property 'Member.email'"))
    }

    @Test func `creating a second object with unique values traps`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try ruledRealm()
            try realm.write {
                realm.create(Member.self, value: ["id": 1, "email": "a", "country": "at", "number": 3])
                realm.create(Member.self, value: ["id": 2, "email": "b", "country": "at", "number": 3])
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("existing value ('at', 3) of the unique combination 'Member.(land, number)'"))
    }
}
