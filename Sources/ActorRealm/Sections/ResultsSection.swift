import RealmModel
import RealmQuery

/// One section of sectioned results: the elements with its key, in the order of the results.
///
/// A section is live: when no element has its key any more, it is empty.
public struct ResultsSection<Key: _Persistable & Hashable, Element: RealmCollectionValue>: RealmSectionedResult,
    Identifiable
{
    /// What the section holds.
    public typealias SectionElement = Element

    let store: SectionStore<Key, Element>
    /// What the elements have in common.
    public let key: Key

    init(_ store: SectionStore<Key, Element>, key: Key) {
        self.store = store
        self.key = key
    }

    /// The key, which tells the section from the others.
    public var id: Key { key }

    private var identity: SectionStore<Key, Element>.Identity {
        SectionStore<Key, Element>.Identity(key, of: store.results.backing)
    }

    private var rows: ArraySlice<Int> {
        let contents = store.contents
        return contents.section(of: key, in: store.results.backing).map { contents.layout.rows(of: $0) } ?? []
    }

    /// The number of elements.
    ///
    /// Damage ends the process here: `requireReadable()` throws it before.
    public var count: Int { rows.count }

    /// The element at a position.
    ///
    /// In a realm that was closed every position reads as nothing: see ``Realm/close()``.
    ///
    /// - Precondition: There is such a position: look at ``count``, or take ``first`` or iterate.
    public subscript(position: Int) -> Element {
        let rows = rows
        guard position >= 0, position < rows.count else {
            store.results.backing.refuseIndex(position, count: rows.count)
            return store.element(-1)
        }
        return store.element(rows[rows.startIndex + position])
    }

    /// Iterates over the elements as they are now, in spite of writes made in the loop.
    public func makeIterator() -> Iterator { Iterator(rows: rows, backing: store.results.backing) }

    /// Goes over the elements of a section.
    public typealias Iterator = SectionIterator<Element>

    /// The realm that the elements belong to.
    public var realm: Realm? { store.results.realm }
    /// Whether the realm was invalidated or closed.
    public var isInvalidated: Bool { store.results.isInvalidated }
    /// Whether the section stands on one version for good.
    public var isFrozen: Bool { store.results.isFrozen }
    /// The section as of the version that the realm stands on.
    ///
    /// - Precondition: The value is managed and has not been deleted, nor created in the write transaction that is
    ///   open: look at ``realm`` and ``isInvalidated``.
    public func freeze() -> ResultsSection {
        isFrozen ? self : SectionStore(store.results.freeze(), store.rule).section(key)
    }
    /// The live section of a frozen one.
    ///
    /// - Precondition: The value is managed: look at ``realm``. Its file can be read: `try Realm(configuration:)`
    ///   throws instead.
    public func thaw() -> ResultsSection? {
        guard isFrozen else { return self }
        return store.results.thaw().map { SectionStore($0, store.rule).section(key) }
    }

    /// The value as a description that does not belong to an isolation.
    public var _reference: _ConfinedReference { store.reference(section: key) }
    /// The value that a description stands for in a realm.
    public static func _resolve(_ reference: _ConfinedReference, in realm: Realm) -> ResultsSection? {
        guard case .sections(_, _, let section?) = reference.content,
            let kept = section.key as? SectionStore<Key, Element>.KeptKey,
            let store = SectionStore<Key, Element>(reference, in: realm),
            let key = store.key(kept)
        else { return nil }
        return ResultsSection(store, key: key)
    }

    /// Whether both are the section of one key in the same sectioned results.
    public static func == (left: ResultsSection, right: ResultsSection) -> Bool {
        left.store.isSame(as: right.store) && left.identity == right.identity
    }

    /// A listing of the first hundred elements.
    public var description: String {
        do { try requireReadable() } catch {
            return "ResultsSection<\(Key.self), \(Element.self)> [unreadable: \(error)]"
        }
        return "ResultsSection<\(Key.self), \(Element.self)> [\(ObjectDescription.text(key))] (\n"
            + prefix(100).map { "\t\(ObjectDescription.text($0))" }.joined(separator: ",\n") + "\n)"
    }
}

@available(
    *,
    unavailable,
    message:
        "A section belongs to its realm's isolation. Send `section.frozen` or `ThreadSafeReference(to: section)` instead."
)
extension ResultsSection: Sendable {}
