import RealmStorage
import RealmTestSupport
import Testing

@testable import ActorRealm

/// What throws where `delete` ends the process.
@Suite("Objects are removed by what throws", .timeLimit(.minutes(60)))
struct RemovingTests {
    private func code(_ body: () throws -> Void) -> Realm.Error.Code? {
        do { try body() } catch { return (error as? Realm.Error)?.code }
        return nil
    }

    @Test("remove deletes an object, and those of a list, of results and of an array")
    func removes() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write {
            let puppies: [[String: Any]] = [["name": "a"], ["name": "b"], ["name": "c"]]
            return realm.create(Keeper.self, value: ["id": 1, "puppies": puppies])
        }
        let first = keeper.puppies[0]
        try realm.write {
            try realm.remove(first)
            #expect(first.isInvalidated && keeper.puppies.count == 2)
            // What was deleted before is left out.
            try realm.remove([first, keeper.puppies[0]])
            #expect(keeper.puppies.map(\.name) == ["c"])
            try realm.remove(keeper.puppies)
            #expect(realm.objects(Puppy.self).isEmpty)
            try realm.remove(realm.objects(Puppy.self))
            try realm.remove(realm.objects(Keeper.self))
        }
        #expect(keeper.isInvalidated)
        try realm.verify()
    }

    @Test("remove throws for what is gone, elsewhere or nowhere, and nothing has changed then")
    func refuses() throws {
        let realm = try memoryRealm()
        let other = try memoryRealm()
        let (kept, gone) = try realm.write { (realm.create(Puppy.self), realm.create(Puppy.self)) }
        let foreign = try other.write { other.create(Puppy.self) }
        #expect(code { try realm.remove(kept) } == .invalidInput)
        #expect(code { try realm.remove([kept]) } == .invalidInput)
        try realm.write {
            realm.delete(gone)
            #expect(code { try realm.remove(gone) } == .invalidatedObject)
            for object in [foreign, kept.freeze(), Puppy()] {
                #expect(code { try realm.remove(object) } == .invalidInput)
                #expect(code { try realm.remove([kept, object]) } == .invalidInput)
            }
        }
        #expect(!kept.isInvalidated && !foreign.isInvalidated && realm.objects(Puppy.self).count == 1)
        realm.close()
        #expect(code { try realm.remove(kept) } == .closed)
        #expect(code { try realm.remove([kept]) } == .closed)
    }

    @Test("What a delete rule denies is thrown at once, and the transaction can be committed")
    func denied() throws {
        let realm = try ruledRealm()
        let (company, ledger) = try realm.write {
            let company = realm.create(Company.self)
            let ledger = realm.create(Ledger.self)
            company.accounts.insert(ledger)
            return (company, ledger)
        }
        try realm.write {
            #expect(code { try realm.remove(company) } == .deletionDenied)
            company.name = "Acme"
        }
        #expect(!company.isInvalidated && company.name == "Acme")
        // Together they go.
        try realm.write { try realm.remove([ledger, company] as [Object]) }
        #expect(company.isInvalidated && ledger.isInvalidated)
        try realm.verify()
    }

    @Test("A step that fails while objects are removed is thrown by the commit, too, and nothing has changed")
    func failingSteps() throws {
        let file = TestFile()
        let failures = StepFailures()
        var configuration = file.fast
        configuration.objectTypes = objectTestTypes
        configuration.failures = failures
        let realm = try Realm(configuration: configuration)
        let keeper = try realm.write {
            let puppies: [[String: Any]] = (0..<300).map { ["name": String(repeating: "\($0)", count: 40)] }
            return realm.create(Keeper.self, value: ["id": 1, "puppies": puppies])
        }
        var refused = 0
        for number in 0... {
            var isThrown = false
            do {
                try realm.write {
                    realm.core.coordinator.file.doubtEveryPage()
                    failures.arm(after: number)
                    do { try realm.remove(keeper.puppies) } catch { isThrown = true }
                    failures.arm(after: nil)
                    // Of what was removed nothing is left out.
                    if !isThrown { #expect(realm.objects(Puppy.self).isEmpty) }
                }
                if !isThrown { break }
            } catch {
                #expect(isThrown)
                refused += 1
            }
            #expect(keeper.puppies.count == 300 && realm.objects(Puppy.self).count == 300)
            try realm.verify()
        }
        #expect(refused > 0)
        #expect(keeper.puppies.isEmpty && realm.objects(Puppy.self).isEmpty)
        try realm.verify()
    }
}
