import ActorRealm

class Member: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted(unique: true) var email = ""
    @Persisted(indexed: true, unique: true) var badge: Int?
    @Persisted var country = ""
    @Persisted var number = 0
    @Persisted var friend: Member?
    override class func compoundIndexes() -> [CompoundIndex] {
        [CompoundIndex(\Member.country, \Member.number, unique: true), ["country", "id"]]
    }
    override class func propertiesMapping() -> [String: String] { ["country": "land"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    convenience init(_ id: Int, _ email: String, badge: Int? = nil, country: String = "", number: Int? = nil) {
        self.init()
        self.id = id
        self.email = email
        self.badge = badge
        self.country = country
        self.number = number ?? id
    }
}

class Company: Object {
    @Persisted var name = ""
    @Persisted(onDelete: .cascade) var departments: List<Department>
    @Persisted(onDelete: .cascade) var address: Site?
    @Persisted(onDelete: .deny) var accounts: MutableSet<Ledger>
    @Persisted(onDelete: .nullify) var customers: Map<String, Company?>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Department: Object {
    @Persisted var name = ""
    @Persisted(onDelete: .cascade) var desks: Map<String, Site?>
    @Persisted(originProperty: "departments") var companies: LinkingObjects<Company>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Site: Object {
    @Persisted var name = ""
    @Persisted(onDelete: .cascade) var next: Site?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Ledger: Object {
    @Persisted var name = ""
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

func ruledRealm() throws -> Realm {
    try Realm(
        configuration: Realm.Configuration(
            inMemoryIdentifier: "ruled-\(UInt64.random(in: 0 ... .max))",
            objectTypes: [Member.self, Company.self]
        )
    )
}
