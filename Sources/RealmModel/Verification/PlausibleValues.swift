import RealmStorage

extension BorrowedValue {
    /// Whether a value that was read can be one of a kind: strings are UTF-8, a bool is 0 or 1.
    func isPlausible(_ kind: PropertyKind) -> Bool {
        switch (self, kind) {
        case (.int(let value), .bool): value == 0 || value == 1
        case (.bytes(let bytes), .string): UTF8Validation.isValid(bytes)
        case (.bytes(let bytes), .any): MixedFormat.decode(bytes) != nil
        default: true
        }
    }
}
