// What other libraries with this interface call the types of this one.

/// Goes over the elements of a collection.
public typealias RLMIterator<Element: RealmCollectionValue> = RealmIterator<Element>

/// Goes over the entries of a map.
public typealias RLMMapIterator<Entry: _RealmMapValue> = IndexingIterator<[(key: Entry.Key, value: Entry.Value)]>

/// Goes over the entries of a map.
public typealias RLMKeyValueIterator<Key: _MapKey, Value: RealmCollectionValue> =
    IndexingIterator<[(key: Key, value: Value)]>

/// Goes over the sections of sectioned results.
public typealias SectionedResultsIterator<Key: _Persistable & Hashable, Element: RealmCollectionValue> =
    IndexingIterator<[ResultsSection<Key, Element>]>

/// A change of sectioned results or of one section.
@available(*, deprecated, renamed: "SectionedResultsChange")
public typealias RealmSectionedResultsChange<Collection> = SectionedResultsChange<Collection>

/// A property of a projection that has changed.
@available(*, deprecated, renamed: "PropertyChange")
public typealias ProjectedPropertyChange = PropertyChange

/// Called when a realm changes; see ``Realm/observe(file:line:_:)``.
public typealias NotificationBlock = Realm.NotificationBlock

/// The base class of models.
public typealias RealmSwiftObject = Object

/// The base class of models that are parts of others.
public typealias RealmSwiftEmbeddedObject = EmbeddedObject

/// What has an identity that lists in user interfaces can use.
@available(*, deprecated, renamed: "ObjectKeyIdentifiable")
public typealias ObjectIdentifiable = ObjectKeyIdentifiable

/// What all collections but maps have in common.
public typealias RealmCollectionBase = RealmCollection
