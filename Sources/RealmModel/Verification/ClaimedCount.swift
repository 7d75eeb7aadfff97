extension Array {
    /// Makes room for what a file says that there is, and for a part of it at once only: it may say anything.
    package mutating func reserveCapacity(forClaimed count: Int) {
        reserveCapacity(Swift.min(count, 1 << 20))
    }
}
