import ActorRealm
import Testing

/// What `@Persisted(onDelete:)` says happens when an object is deleted.
@Suite struct DeletePropertyRuleTests {
    private func makeCompany(_ realm: Realm) throws -> Company {
        try realm.write {
            let company = Company(value: ["name": "Acme", "address": ["name": "street", "next": ["name": "town"]]])
            for name in ["sales", "labs"] {
                let department = Department(value: ["name": name])
                department.desks["first"] = Site(value: ["name": "\(name) desk"])
                company.departments.append(department)
            }
            realm.add(company)
            let customer = Company(value: ["name": "Bolt"])
            customer.departments.append(company.departments[1])
            company.customers["best"] = customer
            return company
        }
    }

    @Test func `the schema says what happens`() throws {
        let schema = try #require(try ruledRealm().schema["Company"])
        #expect(schema["departments"]?.deleteRule == .cascade)
        #expect(schema["address"]?.deleteRule == .cascade)
        #expect(schema["accounts"]?.deleteRule == .deny)
        #expect(schema["customers"]?.deleteRule == .nullify)
    }

    @Test func `linked objects go along links, lists and maps, and nobody else's`() throws {
        let realm = try ruledRealm()
        let company = try makeCompany(realm)
        let customer = try #require(company.customers["best"] ?? nil)
        let desk = company.departments[0].desks["first"].flatMap { $0 }
        try realm.write { realm.delete(company) }
        #expect(company.isInvalidated && desk?.isInvalidated == true)
        // What two companies shared went with the first.
        #expect(!customer.isInvalidated && customer.departments.isEmpty)
        #expect(realm.objects(Department.self).isEmpty && realm.objects(Site.self).isEmpty)
        try realm.verify()
    }

    @Test func `taking an object out of a list, or deleting it, takes nothing else along`() throws {
        let realm = try ruledRealm()
        let company = try makeCompany(realm)
        try realm.write {
            company.departments.remove(at: 0)
            company.address = nil
        }
        #expect(realm.objects(Department.self).count == 2 && realm.objects(Site.self).count == 4)
        try realm.write { realm.delete(company.departments[0]) }
        #expect(realm.objects(Department.self).count == 1 && !company.isInvalidated)
    }

    @Test func `a denied deletion fails the transaction`() throws {
        let realm = try ruledRealm()
        let company = try makeCompany(realm)
        let ledger = Ledger(value: ["name": "cash"])
        try realm.write { company.accounts.insert(ledger) }
        do {
            try realm.write {
                company.name = "gone"
                realm.delete(company)
            }
            Issue.record("the company has accounts")
        } catch let error as Realm.Error {
            #expect(error.code == .deletionDenied)
            #expect(error.message.contains("'Company.accounts' links to objects of type 'Ledger'"))
        }
        #expect(company.name == "Acme" && realm.objects(Department.self).count == 2)
        // Together they may go.
        try realm.write { realm.delete([company, ledger] as [ObjectBase]) }
        #expect(realm.objects(Company.self).count == 1 && realm.objects(Ledger.self).isEmpty)
        try realm.write { realm.delete(realm.objects(Company.self).where { $0.name == "Bolt" }) }
        #expect(realm.objects(Company.self).isEmpty)
    }

    @Test func `everything can be deleted in spite of rules`() throws {
        let realm = try ruledRealm()
        let company = try makeCompany(realm)
        try realm.write {
            company.accounts.insert(Ledger())
            realm.deleteAll()
        }
        #expect(realm.isEmpty)
    }

    @MainActor
    @Test func `observers see every object that goes`() async throws {
        let realm = try await Realm(
            configuration: Realm.Configuration(inMemoryIdentifier: "ruled-observed", objectTypes: [Site.self])
        )
        let first = try await realm.asyncWrite {
            var place = Site(value: ["name": "0"])
            for number in 1..<50 {
                let next = Site(value: ["name": "\(number)"])
                next.next = place
                place = next
            }
            realm.add(place)
            return place
        }
        var changes = realm.objects(Site.self).changes().makeAsyncIterator()
        guard case .initial(let places)? = await changes.next() else {
            Issue.record("no initial element")
            return
        }
        #expect(places.count == 50)
        try await realm.asyncWrite { realm.delete(first) }
        guard case .update(let left, let deletions, let insertions, let modifications)? = await changes.next() else {
            Issue.record("no update")
            return
        }
        #expect(left.isEmpty && deletions == Array(0..<50) && insertions.isEmpty && modifications.isEmpty)
    }
}
