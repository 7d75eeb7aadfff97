import OrderedCollections

/// What an object gets in a property from a program that does not know it.
///
/// It is no part of what a property is: two that differ in it are the same.
package struct RecordedDefault: Sendable, Hashable {
    /// nil for zero, null or nothing, which a new row has anyway, and where the value does not fit.
    package let value: StoredValue?

    package init() { value = nil }

    package init(_ value: StoredValue) {
        self.value = MixedFormat.encode(value).count <= Self.maximumByteCount ? value : nil
    }

    /// Of a value, with its tag: a schema is read whole.
    private static let maximumByteCount = 1_024

    package static func == (left: RecordedDefault, right: RecordedDefault) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}

extension DatabaseSchema {
    /// The declared schema with other classes.
    package func mappingClasses(_ body: (ClassSchema) -> ClassSchema) -> DatabaseSchema {
        DatabaseSchema(classes: classes.values.map(body), version: version)
    }
}
