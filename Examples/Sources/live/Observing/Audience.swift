import ActorRealm

/// The connections that follow the list.
actor Audience {
    /// So many may follow at once.
    static let limit = 256

    private let configuration: Realm.Configuration
    private let heartbeat: Duration
    private var following: [Int: Task<Void, Never>] = [:]

    /// Whether nobody is let in any more.
    private(set) var isClosed = false

    /// The connections that were let in so far.
    private(set) var admitted = 0

    init(configuration: Realm.Configuration, heartbeat: Duration) {
        self.configuration = configuration
        self.heartbeat = heartbeat
    }

    /// The connections whose observer runs.
    var count: Int { following.count }

    /// Begins to follow the list, and gives what the connection is to send; nil when there is no room.
    func admit() async throws -> EventStream? {
        let viewer = try await Viewer(configuration: configuration, heartbeat: heartbeat)
        // While the realm was opened, others came, or the server stopped.
        guard !isClosed, following.count < Audience.limit else { return nil }
        admitted += 1
        let number = admitted
        let task = Task {
            await viewer.run()
            following[number] = nil
        }
        following[number] = task
        return EventStream(events: viewer.events, lease: .init(task))
    }

    /// Ends all connections, and waits until their realms are closed.
    func close() async {
        isClosed = true
        for task in following.values { task.cancel() }
        while let task = following.values.first { await task.value }
    }
}
