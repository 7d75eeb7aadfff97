import ActorRealm
import Foundation

/// Takes down arrivals, and tells who asks.
actor Arrivals {
    private var realm: Realm!
    private var token: NotificationToken?
    private var count = 0
    private var waiting: CheckedContinuation<Int, Never>?

    init(configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    func watch() async {
        let voyages = realm.objects(Voyage.self).where { $0.state == .arrived }
        token = await voyages.observe(keyPaths: ["state"], on: self) { actor, change in
            switch change {
            case .initial(let voyages): actor.note(voyages.count)
            case .update(let voyages, deletions: _, insertions: _, modifications: _): actor.note(voyages.count)
            case .error: break
            }
        }
    }

    func arrive(at harbor: String) async throws {
        try await realm.asyncWrite {
            let voyages = realm.objects(Voyage.self).filter("state == 'sailing' AND ANY legs.to == %@", harbor)
            for voyage in Array(voyages) { voyage.state = .arrived }
        }
    }

    func close() {
        token?.invalidate()
        realm = nil
    }

    /// Waits until a voyage has arrived.
    func firstArrival() async -> Int {
        if count > 0 { return count }
        return await withCheckedContinuation { waiting = $0 }
    }

    private func note(_ count: Int) {
        self.count = count
        guard count > 0 else { return }
        waiting?.resume(returning: count)
        waiting = nil
    }
}
