import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

/// An opening that ends between a look for open realms and what follows from that.
@Suite("A realm that is opened while another thread looks for open ones is seen", .timeLimit(.minutes(60)))
struct OpenedMeanwhileTests {
    let file = TestFile()

    /// Opens a realm, and has another thread look for open ones just before it is there and draw its conclusion just behind.
    private func open(
        _ configuration: Realm.Configuration,
        _ coordinator: RealmCoordinator,
        beside look: @escaping @Sendable (RealmCoordinator) throws -> Void
    ) throws -> RealmCore {
        let didLook = DispatchSemaphore(value: 0)
        let isOpen = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let core = try coordinator.opening {
            coordinator.didLookForRealms = {
                coordinator.didLookForRealms = nil
                didLook.signal()
                isOpen.wait()
            }
            Thread.detachNewThread {
                do {
                    try look(coordinator)
                } catch {
                    Issue.record(error)
                }
                // It may not have looked at all.
                didLook.signal()
                ended.signal()
            }
            didLook.wait()
            let core = RealmCore(
                configuration: configuration,
                coordinator: coordinator,
                isolation: .current,
                model: try coordinator.makeView(nil)
            )
            try coordinator.remember(core)
            return core
        }
        isOpen.signal()
        ended.wait()
        return core
    }

    @Test("The life of a realm in memory goes on")
    func memory() throws {
        let configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Tally.self])
        let coordinator = try Realm.prepare(configuration)
        let core = try open(configuration, coordinator) { _ = $0.endUnlessUsed() }
        #expect(!coordinator.isEnded)
        coordinator.forget(core)
        core.end(as: .closed)
        #expect(coordinator.endUnlessUsed() == true)
    }

    @Test("What it declares stays declared")
    func rules() throws {
        let configuration = file.configuration
        let coordinator = try Realm.prepare(configuration)
        let declared = try DeclaredSchema.make(for: configuration)
        coordinator.file.declareRules([1, 2]) { false }
        let core = try open(configuration, coordinator) { coordinator in
            try coordinator.opening { _ = coordinator.declareRules(of: declared) }
        }
        #expect(coordinator.file.hasDeclaredRules([1, 2]))
        coordinator.forget(core)
        core.end(as: .closed)
        try coordinator.opening { _ = coordinator.declareRules(of: declared) }
        #expect(!coordinator.file.hasDeclaredRules([1, 2]))
    }
}
