@testable import ActorRealm

extension Realm {
    /// Waits until a pass of the hub is over which began now or later, and until everything has run that it and whoever else had
    /// posted to this realm's isolation by then.
    ///
    /// What was not delivered by then is delivered only when something else happens: a test of absence needs no time.
    func passTurns(in caller: isolated (any Actor)? = #isolation) async {
        let (hub, isolation) = (core.coordinator.observations, core.isolation)
        hub.schedule()
        await withCheckedContinuation { continuation in hub.thread.perform { continuation.resume() } }
        await withCheckedContinuation { continuation in isolation.post { continuation.resume() } }
    }
}
