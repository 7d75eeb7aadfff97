/// Equality as `order(_:_:)` has it: by value and by bytes.
///
/// Numbers of all types are equal when their values are, -0.0 is 0.0, and NaN is equal to itself. Strings are equal when
/// their bytes are; Swift's own equality takes different bytes for the same text. So sets and dictionaries of values
/// agree with sorting, and with the keys of indexes. Predicates have one more rule: there NaN differs from everything.
extension StoredValue: Hashable {
    package static func == (left: StoredValue, right: StoredValue) -> Bool { order(left, right) == 0 }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        switch self {
        case .null: break
        case .bool(let value): hasher.combine(value)
        case .int(let value): ExactNumber(value).hash(into: &hasher)
        case .float(let value): ExactNumber(Double(value)).hash(into: &hasher)
        case .double(let value), .date(let value): ExactNumber(value).hash(into: &hasher)
        case .decimal(let value): ExactNumber(value.number).hash(into: &hasher)
        case .string(let value): TextBytes.hash(value, into: &hasher)
        case .data(let value): hasher.combine(value)
        case .objectId(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .link(let key): hasher.combine(key)
        case .anyLink(let table, let key):
            hasher.combine(table)
            hasher.combine(key)
        case .list(let values): hasher.combine(values)
        case .dictionary(let entries): hasher.combine(entries)
        }
    }

    /// Whether both are the same down to their types and bits: what a reader cannot tell apart.
    ///
    /// It is finer than `==`: 1 and 1.0 differ, and so do 0.0 and -0.0, and 1.0 and 1.00 as decimals.
    package func isIdentical(to other: StoredValue) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.int(let one), .int(let other)): one == other
        case (.float(let one), .float(let other)): one.bitPattern == other.bitPattern
        case (.double(let one), .double(let other)), (.date(let one), .date(let other)):
            one.bitPattern == other.bitPattern
        case (.decimal(let one), .decimal(let other)): one == other
        case (.list(let one), .list(let other)): one.areIdentical(to: other)
        case (.dictionary(let one), .dictionary(let other)): one.areIdentical(to: other)
        case (.int, _), (.float, _), (.double, _), (.decimal, _): false
        default: self == other
        }
    }
}

extension StoredEntry: Hashable {
    package static func == (left: StoredEntry, right: StoredEntry) -> Bool {
        TextBytes.areEqual(left.key, right.key) && left.value == right.value
    }

    package func hash(into hasher: inout Hasher) {
        TextBytes.hash(key, into: &hasher)
        hasher.combine(value)
    }
}

extension [StoredValue] {
    /// Whether both hold the same values down to their types and bits.
    package func areIdentical(to other: [StoredValue]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.isIdentical(to: $1) }
    }
}

extension [StoredEntry] {
    /// Whether both hold the same values under the same names, down to their types and bits.
    package func areIdentical(to other: [StoredEntry]) -> Bool {
        count == other.count
            && zip(self, other).allSatisfy { TextBytes.areEqual($0.key, $1.key) && $0.value.isIdentical(to: $1.value) }
    }
}

/// A value that is equal to those only which are stored in the same way: for telling what changed.
package struct StoredForm: Hashable, Sendable {
    package let value: StoredValue

    package init(_ value: StoredValue) { self.value = value }

    package static func == (left: StoredForm, right: StoredForm) -> Bool { left.value.isIdentical(to: right.value) }

    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
