import ActorRealm

/// One pair of the driver.
final class Pair: Object {
    @Persisted(primaryKey: true) var key: String
    @Persisted var value: String

    convenience init(key: String, value: String) {
        self.init()
        self.key = key
        self.value = value
    }
}
