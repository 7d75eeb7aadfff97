/// Takes the runs of a sealed tree one by one, children first, and says where each stands from now on: what moves pages
/// within a file, or copies them to another one.
package protocol RunMapper {
    /// Where the runs are read.
    var view: PageView { get }
    /// Whether to stop at the next occasion.
    var isExhausted: Bool { get }
    /// Whether a run was left although it should have been taken: the walk comes back to where it was.
    var isCutShort: Bool { get set }

    /// Begins to walk down a tree, which may be the same one as before.
    mutating func beginWalk()

    /// Notes a run before the walk goes down into it.
    ///
    /// - Throws: `StorageError` when the walk has come to a page of it before.
    mutating func enter(_ reference: PageReference) throws(StorageError)

    /// Takes a run; its new place is what its parent refers to afterwards.
    ///
    /// - Parameters:
    ///   - reference: The run.
    ///   - changes: The references in it that are others now, and their offsets.
    /// - Returns: the run's new place, or the same one.
    /// - Throws: `StorageError` when the run is damaged or cannot be written.
    mutating func mapped(
        _ reference: PageReference,
        _ changes: [(offset: Int, reference: PageReference)]
    ) throws(StorageError) -> PageReference
}
