public import Foundation

/// `SectionedResults`, and each of their sections.
public protocol RealmSectionedResult: _ConfinedCollection, RandomAccessCollection, ThreadConfined, Equatable,
    CustomStringConvertible
{
    /// What the sections hold.
    associatedtype SectionElement: RealmCollectionValue

    /// What observers of the value share.
    func _observation(keyPaths: [String]?, file: StaticString, line: UInt) -> _SectionObservation<Self>
}

extension RealmSectionedResult {
    /// The position of the first element.
    public var startIndex: Int { 0 }
    /// The position after the last element.
    public var endIndex: Int { count }
    /// The position after another.
    public func index(after index: Int) -> Int { index + 1 }
    /// The position before another.
    public func index(before index: Int) -> Int { index - 1 }
    /// The number of positions between two.
    public func distance(from start: Int, to end: Int) -> Int { end - start }
    /// A position at a distance from another.
    public func index(_ index: Int, offsetBy distance: Int) -> Int { index + distance }
    /// Whether the collection has no elements.
    public var isEmpty: Bool { count == 0 }
}

/// A change of sectioned results or of one section, as `observe` and `changes()` deliver it.
///
/// Index paths are a section and an item in it. The rows of a section that was removed are not among the `deletions`;
/// those of a new section are among the `insertions`. A row whose section changed is a deletion and an insertion.
@frozen
public enum SectionedResultsChange<Collection> {
    /// The first delivery: the sections as they stand.
    case initial(Collection)
    /// The sections after one or more committed writes, and how they differ from those delivered before.
    ///
    /// `deletions`, `modifications` and `sectionsToDelete` are positions before, `insertions` and `sectionsToInsert` are
    /// positions now.
    case update(
        Collection,
        deletions: [IndexPath],
        insertions: [IndexPath],
        modifications: [IndexPath],
        sectionsToInsert: IndexSet,
        sectionsToDelete: IndexSet
    )
}

@available(
    *,
    unavailable,
    message: "A change holds what belongs to its observer's isolation. Send frozen values, or what you read from it."
)
extension SectionedResultsChange: Sendable {}

extension IndexPath {
    /// The position of an item in a section.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }
    /// The position of a row in a section.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }
    /// The section.
    public var section: Int { self[0] }
    /// The item in the section.
    public var item: Int { self[1] }
    /// The row in the section.
    public var row: Int { self[1] }
}
