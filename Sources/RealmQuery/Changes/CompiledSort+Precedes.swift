extension CompiledSort {
    /// Whether a row comes before another one: rows equal in all properties come in key order.
    func precedes(_ first: Int64, _ second: Int64) throws -> Bool {
        let order = try compare(first, second)
        return order == 0 ? first < second : order < 0
    }
}
