import ActorRealm

/// The classes of a program, release by release.
enum Release1 {
    class Item: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var n: Int
        @Persisted var a: String
        @Persisted var b: String
        override class func _realmObjectName() -> String? { "Item" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Extra: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var text: String
        override class func _realmObjectName() -> String? { "Extra" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

/// The property `a` is gone, and `c` is new.
enum Release2 {
    class Item: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var n: Int
        @Persisted var b: String
        @Persisted var c: String
        override class func _realmObjectName() -> String? { "Item" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

/// What programs declare of one class beside its properties.
enum Rules {
    class Plain: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var n: Int
        @Persisted var text: String
        override class func _realmObjectName() -> String? { "Ruled" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Indexed: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var n: Int
        @Persisted var text: String
        override class func _realmObjectName() -> String? { "Ruled" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Unique: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var n: Int
        @Persisted(unique: true) var text: String
        override class func _realmObjectName() -> String? { "Ruled" }
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}
