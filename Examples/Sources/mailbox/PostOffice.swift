import ActorRealm
import ExampleSupport

/// The actor for work behind the user's back: it fetches mail and clears up.
actor PostOffice {
    private let configuration: Realm.Configuration

    init(configuration: Realm.Configuration) {
        self.configuration = configuration
    }

    /// Stores the mails of a source that are not there yet and returns how many those were.
    func fetch(from open: @Sendable () throws -> ByteSource, batchSize: Int = 500) async throws -> Int {
        let realm = try await Realm(configuration: configuration, actor: self)
        let reader = MessageReader(try open())
        var fetched = 0
        var batch: [Message] = []
        while true {
            let message = try reader.next()
            if let message { batch.append(message) }
            guard message == nil || batch.count == batchSize else { continue }
            let messages = batch
            fetched += try await realm.asyncWrite { realm in
                var stored = 0
                for message in messages
                where realm.object(ofType: Mail.self, forPrimaryKey: message.identifier) == nil {
                    realm.add(Mail(message))
                    stored += 1
                }
                return stored
            }
            batch.removeAll(keepingCapacity: true)
            if message == nil { return fetched }
        }
    }

    /// Runs a block in a write transaction with what another actor handed over, resolved at the newest version: of a query
    /// that is whatever matches then, not what matched when it was handed over.
    func write<Value: ThreadConfined>(
        _ reference: ThreadSafeReference<Value>,
        _ block: @Sendable (Realm, Value?) throws -> Void
    ) async throws {
        let realm = try await Realm(configuration: configuration, actor: self)
        try await realm.asyncWrite { realm in
            try block(realm, realm.resolve(reference))
        }
    }
}
