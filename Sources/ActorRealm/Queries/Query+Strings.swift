import RealmQuery

/// How strings are compared in a query.
public struct StringOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int
    /// Creates options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Upper and lower case are the same.
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// Accents make no difference.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)

    var comparison: StringComparisonOptions { StringComparisonOptions(rawValue: UInt8(rawValue & 3)) }
}

extension Query where T: _QueryBinary {
    /// Greater than a value, compared byte by byte.
    public static func > (left: Query, right: T) -> Query<Bool> { left.compared(.greater, constant(right)) }
    /// At least a value, compared byte by byte.
    public static func >= (left: Query, right: T) -> Query<Bool> { left.compared(.greaterOrEqual, constant(right)) }
    /// Less than a value, compared byte by byte.
    public static func < (left: Query, right: T) -> Query<Bool> { left.compared(.less, constant(right)) }
    /// At most a value, compared byte by byte.
    public static func <= (left: Query, right: T) -> Query<Bool> { left.compared(.lessOrEqual, constant(right)) }
    /// Greater than another property, compared byte by byte.
    public static func > (left: Query, right: Query) -> Query<Bool> { left.compared(.greater, right.node) }
    /// At least another property, compared byte by byte.
    public static func >= (left: Query, right: Query) -> Query<Bool> { left.compared(.greaterOrEqual, right.node) }
    /// Less than another property, compared byte by byte.
    public static func < (left: Query, right: Query) -> Query<Bool> { left.compared(.less, right.node) }
    /// At most another property, compared byte by byte.
    public static func <= (left: Query, right: Query) -> Query<Bool> { left.compared(.lessOrEqual, right.node) }

    /// Contains a value.
    public func contains(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.contains, Self.constant(value), options.comparison)
    }
    /// Contains the value of another property.
    public func contains<U: _QueryBinary>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        compared(.contains, column.node, options.comparison)
    }
    /// Starts with a value.
    public func starts(with value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.beginsWith, Self.constant(value), options.comparison)
    }
    /// Starts with the value of another property.
    public func starts<U: _QueryBinary>(with column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        compared(.beginsWith, column.node, options.comparison)
    }
    /// Ends with a value.
    public func ends(with value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.endsWith, Self.constant(value), options.comparison)
    }
    /// Ends with the value of another property.
    public func ends<U: _QueryBinary>(with column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        compared(.endsWith, column.node, options.comparison)
    }
    /// Equal to a value.
    public func equals(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.equal, Self.constant(value), options.comparison)
    }
    /// Equal to another property.
    public func equals<U: _QueryBinary>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        compared(.equal, column.node, options.comparison)
    }
    /// Different from a value.
    public func notEquals(_ value: T, options: StringOptions = []) -> Query<Bool> {
        compared(.notEqual, Self.constant(value), options.comparison)
    }
    /// Different from another property.
    public func notEquals<U: _QueryBinary>(_ column: Query<U>, options: StringOptions = []) -> Query<Bool> {
        compared(.notEqual, column.node, options.comparison)
    }
}

extension Query where T: _QueryString {
    /// Matches a pattern as a whole: `*` stands for any run of characters, `?` for one.
    public func like(_ pattern: T, caseInsensitive: Bool = false) -> Query<Bool> {
        compared(.like, Self.constant(pattern), caseInsensitive ? .caseInsensitive : [])
    }
    /// Matches the pattern that another property holds.
    public func like<U: _QueryString>(_ column: Query<U>, caseInsensitive: Bool = false) -> Query<Bool> {
        compared(.like, column.node, caseInsensitive ? .caseInsensitive : [])
    }
}
