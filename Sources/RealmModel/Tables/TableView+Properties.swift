package import RealmStorage

/// Single facts of the class, without a copy of its schema.
extension TableView {
    /// The ordinal of the property of a name in the file.
    package func ordinal(of name: String) -> Int? { schema.ordinal(of: name) }

    /// The type of a property.
    package func kind(of property: Int) -> PropertyKind { slots[property].kind }

    /// How the values of a property lie in its column.
    package func columnKind(_ property: Int) -> ColumnKind { slots[property].columnKind }

    /// The ordinal of the primary key; nil when the class has none.
    package var primaryKeyOrdinal: Int? { primaryKeyProperty < 0 ? nil : primaryKeyProperty }
}
