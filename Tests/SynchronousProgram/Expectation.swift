import Foundation

/// Something that the main thread waits for while its run loop runs, as `XCTestExpectation` is.
final class Expectation {
    private let what: String
    private var isFulfilled = false

    init(_ what: String) { self.what = what }

    func fulfill() { isFulfilled = true }

    /// Runs the loop of the main thread until the expectation is fulfilled.
    func wait() {
        let deadline = Date(timeIntervalSinceNow: 60)
        while !isFulfilled {
            guard Date() < deadline else {
                print("never came: \(what)")
                exit(1)
            }
            RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.01))
        }
    }
}

/// Ends the program when a condition does not hold.
func require(_ condition: Bool, _ what: String) {
    if condition { return }
    print("not so: \(what)")
    exit(1)
}
