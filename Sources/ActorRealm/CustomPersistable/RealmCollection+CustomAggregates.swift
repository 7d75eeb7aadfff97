extension RealmCollection where Element: ObjectBase {
    /// The smallest value of a property, as it is stored; nil when there is none.
    public func min<Value: _CustomPersistable>(of keyPath: KeyPath<Element, Value>) -> Value?
    where Value.PersistedType: MinMaxType {
        (min(ofProperty: PathRecorder.name(of: keyPath)) as Value.PersistedType?).flatMap { Value._fromPersisted($0) }
    }
    /// The largest value of a property, as it is stored; nil when there is none.
    public func max<Value: _CustomPersistable>(of keyPath: KeyPath<Element, Value>) -> Value?
    where Value.PersistedType: MinMaxType {
        (max(ofProperty: PathRecorder.name(of: keyPath)) as Value.PersistedType?).flatMap { Value._fromPersisted($0) }
    }
    /// The sum of a property, as it is stored.
    ///
    /// - Precondition: The sum is one of a value: `sum(ofProperty:)` gives it as it is stored.
    public func sum<Value: _CustomPersistable>(of keyPath: KeyPath<Element, Value>) -> Value
    where Value.PersistedType: AddableType {
        let sum: Value.PersistedType = sum(ofProperty: PathRecorder.name(of: keyPath))
        guard let value = Value._fromPersisted(sum) else {
            misuse("Failed to convert persisted value '\(sum)' to type '\(Value.self)' in a non-optional context.")
        }
        return value
    }
    /// The mean of a property, as it is stored; nil when there are no values.
    public func average<Value: _CustomPersistable>(of keyPath: KeyPath<Element, Value>) -> Value?
    where Value.PersistedType: AddableType {
        (average(ofProperty: PathRecorder.name(of: keyPath)) as Value.PersistedType?)
            .flatMap { Value._fromPersisted($0) }
    }
}
