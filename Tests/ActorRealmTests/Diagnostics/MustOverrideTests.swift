import Testing

@testable import ActorRealm

@Suite("Members that every subclass overrides")
struct MustOverrideTests {
    @Test("the message of one that a subclass forgot names it")
    func message() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ObservationMember(origin: nil).isBehind(1)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("isBehind(_:) has to be overridden by every subclass."))
    }
}
