/// Counts the names that are called.
///
/// What stands in the blocks is compiled, and never run: a name is there when this program is.
struct Names {
    private(set) var count = 0

    /// A group of names that are called without waiting.
    mutating func group(_ names: String..., calling body: () throws -> Void) { count += names.count }

    /// A group of names that are awaited.
    mutating func group(_ names: String..., awaiting body: () async throws -> Void) { count += names.count }
}

/// A value of which only the type is asked for.
func value<Value>(_ type: Value.Type = Value.self) -> Value { fatalError("The names are compiled, and not run.") }

/// Takes a value whose type is exactly the one that the caller says.
func expect<Value>(_ type: Value.Type, _ value: Value) {}
