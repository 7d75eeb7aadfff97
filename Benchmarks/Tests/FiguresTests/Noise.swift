/// What a noisy machine adds to figures: the sum of four uniform numbers, about zero, at most two; a run prints its seed.
struct Noise {
    private var state: UInt64

    init() {
        var random = SystemRandomNumberGenerator()
        state = random.next()
        print("seed \(state)")
    }

    mutating func next() -> Double {
        (0..<4)
            .reduce(-2) { sum, _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return sum + Double(state >> 33) / Double(1 << 31)
            }
    }
}
