public import Foundation
import RealmQuery

/// Results divided into sections by a key of each element.
///
/// Sections stand in the order in which their keys first appear in the results; the elements of a section have the order
/// that they have there. Sectioned results are live, like the results that they divide.
///
/// ```swift
/// let byInitial = people.sectioned(by: \.initial, sortDescriptors: [SortDescriptor(keyPath: \Person.name)])
/// for section in byInitial { print(section.key, section.count) }
/// ```
public struct SectionedResults<Key: _Persistable & Hashable, SectionElement: RealmCollectionValue>:
    RealmSectionedResult
{
    /// One section.
    public typealias Element = ResultsSection<Key, SectionElement>

    let store: SectionStore<Key, SectionElement>

    init(_ store: SectionStore<Key, SectionElement>) { self.store = store }

    init(_ results: Results<SectionElement>, _ rule: SectionRule<Key, SectionElement>) {
        store = SectionStore(results, rule)
    }

    /// The keys of the sections, in order.
    public var allKeys: [Key] {
        let contents = store.contents
        return contents.layout.sections.indices.map { store.key(ofSectionAt: $0, in: contents) }
    }

    /// The number of sections.
    ///
    /// Damage ends the process here: `requireReadable()` throws it before.
    public var count: Int { store.contents.layout.sections.count }

    /// The section at a position.
    ///
    /// In a realm that was closed it is an empty one at every position: see ``Realm/close()``.
    ///
    /// - Precondition: There is such a position: look at ``count``, or take ``first`` or iterate.
    public subscript(position: Int) -> ResultsSection<Key, SectionElement> {
        let contents = store.contents
        guard contents.layout.sections.indices.contains(position) else {
            store.results.backing.refuseIndex(position, count: contents.layout.sections.count)
            return ResultsSection(store, key: Key._defaultValue())
        }
        return ResultsSection(store, key: store.key(ofSectionAt: position, in: contents))
    }

    /// Iterates over the sections as they are now, in spite of writes made in the loop.
    ///
    /// A section that is read behind a write has all of them found anew, which takes O(*n* log *n*) for *n* elements in all.
    /// Where the loop writes to many sections, take the elements out first: `let rows = sections.map { Array($0) }`.
    ///
    /// Damage ends the process here: `requireReadable()` throws it before.
    public func makeIterator() -> IndexingIterator<[Element]> {
        // One that asks for the end at each step would never meet it after the realm was closed.
        allKeys.map { ResultsSection(store, key: $0) }.makeIterator()
    }

    /// The element at a position in a section.
    ///
    /// In a realm that was closed every position reads as nothing: see ``Realm/close()``.
    ///
    /// - Precondition: There is such a position: look at ``count``, or take ``first`` or iterate.
    public subscript(indexPath: IndexPath) -> SectionElement { self[indexPath.section][indexPath.item] }

    /// The realm that the results belong to.
    public var realm: Realm? { store.results.realm }
    /// Whether the realm was invalidated or closed.
    public var isInvalidated: Bool { store.results.isInvalidated }
    /// Whether the sections stand on one version for good.
    public var isFrozen: Bool { store.results.isFrozen }
    /// The sections as of the version that the realm stands on.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``realm`` and ``isInvalidated``.
    public func freeze() -> SectionedResults {
        isFrozen ? self : SectionedResults(store.results.freeze(), store.rule)
    }
    /// The live sections of frozen ones.
    ///
    /// - Precondition: The value is managed: look at ``realm``. Its file can be read: `try Realm(configuration:)`
    ///   throws instead.
    public func thaw() -> SectionedResults? {
        isFrozen ? store.results.thaw().map { SectionedResults($0, store.rule) } : self
    }

    /// The value as a description that does not belong to an isolation.
    public var _reference: _ConfinedReference { store.reference(section: nil) }
    /// The value that a description stands for in a realm.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> SectionedResults? {
        SectionStore(reference, in: realm).map { SectionedResults($0) }
    }

    /// Whether both divide the same results of the same realm in the same way, as far as that can be told.
    public static func == (left: SectionedResults, right: SectionedResults) -> Bool {
        left.store.isSame(as: right.store)
    }

    /// A listing of the sections.
    public var description: String {
        do { try requireReadable() } catch {
            return "SectionedResults<\(Key.self), \(SectionElement.self)> [unreadable: \(error)]"
        }
        return "SectionedResults<\(Key.self), \(SectionElement.self)> (\n"
            + prefix(100).map { "\t[\(ObjectDescription.text($0.key))] \($0.count) elements" }.joined(separator: ",\n")
            + "\n)"
    }
}

@available(
    *,
    unavailable,
    message:
        "Sectioned results belong to their realm's isolation. Send `sections.frozen` or `ThreadSafeReference(to: sections)` instead."
)
extension SectionedResults: Sendable {}

extension SectionStore {
    /// The sections, or one of them, as a description that does not belong to an isolation.
    func reference(section: Key?) -> _ConfinedReference {
        guard let sendable = rule.sendable else {
            misuse(
                "Sections made by a closure cannot be sent to another isolation, because the closure belongs to this one: "
                    + "send the results and section them there, or section by a key path or with "
                    + "`sectioned(bySendable:sortDescriptors:)`."
            )
        }
        return _ConfinedReference(
            .sections(results.backing.descriptor, sendable, section.map { SectionKeyValue(key: kept($0)) })
        )
    }

    convenience init?(_ reference: _ConfinedReference, in realm: Realm) {
        guard case .sections(let descriptor, let rule, _) = reference.content,
            let sendable = rule as? SendableSectionRule<Key, Element>,
            let results = Results<Element>._resolve(_ConfinedReference(.collection(descriptor)), in: realm)
        else { return nil }
        self.init(results, SectionRule(sendable))
    }

    func isSame(as other: SectionStore) -> Bool {
        self === other
            || (results == other.results && rule.keyPath != nil && rule.keyPath == other.rule.keyPath)
    }
}
