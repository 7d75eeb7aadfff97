import ActorRealm

/// A program as it was written when a class was called by its own name only, wherever it was nested.
enum FormerShop {
    class Customer: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var city: String
        @Persisted(unique: true) var email: String
        @Persisted var address: Address?
        @Persisted var friends: List<Customer>
        @Persisted var favourite: AnyRealmValue
        @Persisted(originProperty: "friends") var fans: LinkingObjects<Customer>
        override class func _realmObjectName() -> String? { "Customer" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        override class func compoundIndexes() -> [CompoundIndex] { [CompoundIndex("city", "email")] }
    }

    class Address: EmbeddedObject {
        @Persisted var street: String
        override class func _realmObjectName() -> String? { "Address" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

/// The same program as it is called now: `Shop_Customer` and `Shop_Address`.
enum Shop {
    class Customer: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var city: String
        @Persisted(unique: true) var email: String
        @Persisted var address: Address?
        @Persisted var friends: List<Customer>
        @Persisted var favourite: AnyRealmValue
        @Persisted(originProperty: "friends") var fans: LinkingObjects<Customer>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        override class func compoundIndexes() -> [CompoundIndex] { [CompoundIndex("city", "email")] }
    }

    class Address: EmbeddedObject {
        @Persisted var street: String
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    /// A later release, with another property and a renamed one.
    enum Later {
        class Customer: Object {
            @Persisted(primaryKey: true) var id: Int
            @Persisted(indexed: true) var town: String
            @Persisted(unique: true) var email: String
            @Persisted var address: Address?
            @Persisted var friends: List<Customer>
            @Persisted var favourite: AnyRealmValue
            @Persisted var visits: Int
            @Persisted(originProperty: "friends") var fans: LinkingObjects<Customer>
            override class func _realmObjectName() -> String? { "Shop_Customer" }
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
        }

        class Visit: EmbeddedObject {
            @Persisted var hour: Int
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
        }
    }
}

/// Another `Customer` and another `Address`.
enum Supplier {
    class Customer: Object {
        @Persisted var vat: Int
        @Persisted var address: Address?
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Address: EmbeddedObject {
        @Persisted var harbor: String
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

/// What is not nested in anything that has a name.
enum LocalClasses {
    static func make() -> Object.Type {
        class Local: Object {
            @Persisted var value: Int
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
        }
        return Local.self
    }

    static func makeNested() -> Object.Type {
        enum Holder {
            class Local: Object {
                @Persisted var value: Int
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        return Holder.Local.self
    }

    private class Hidden: Object {
        @Persisted var value: Int
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    static var hidden: Object.Type { Hidden.self }
}

extension Int {
    class Extension: Object {
        @Persisted var value: Int
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}
