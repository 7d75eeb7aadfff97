/// How a column's values are represented; byte 1 of a column descriptor.
@frozen
@usableFromInline
package enum ColumnKind: UInt8, Sendable, CaseIterable {
    /// 64-bit signed integers, booleans, links: frame of reference in 0, 1, 2, 4 or 8 bytes.
    case int = 0
    /// 32-bit floating point.
    case float = 1
    /// 64-bit floating point; whole numbers are stored like integers where that is narrower.
    case double = 2
    /// 12 opaque bytes.
    case fixed12 = 3
    /// 16 opaque bytes.
    case fixed16 = 4
    /// Byte strings of any length: strings, data, small collections.
    case bytes = 5
}

/// The declaration of one column of a table.
package struct ColumnLayout: Sendable, Equatable {
    /// The representation of the column's values.
    package var kind: ColumnKind
    /// Whether values may be null; the default value of a nullable column is null, of any other zero or empty.
    package var isNullable: Bool

    package init(kind: ColumnKind, isNullable: Bool = false) {
        self.kind = kind
        self.isNullable = isNullable
    }
}
