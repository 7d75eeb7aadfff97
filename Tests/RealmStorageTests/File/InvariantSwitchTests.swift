import Foundation
import Testing

@testable import RealmStorage

#if DEBUG
@Suite("The switch of the checks in tests")
struct InvariantSwitchTests {
    @Test("Files that tests open without a say are checked after each step, unless the environment says otherwise")
    func environment() throws {
        let value = try #require(ProcessInfo.processInfo.environment["ACTOR_REALM_INVARIANTS"])
        let options = StorageOptions()
        #expect((options.invariantWasBroken == nil) == (value == "none"))
        let isOfChanges = Invariant.environmentScope == .change
        #expect(isOfChanges == (value == "change"))
        #expect((options.invariantScope == .change) == isOfChanges)
    }
}
#endif
