import Foundation
import RealmQuery
import RealmStorage

/// What the observers of sectioned results, or of one section, have in common.
public struct _SectionObservation<Collection: RealmSectionedResult> {
    let source: ObservationSource<CollectionSubject>
    let core: RealmCore
    /// Makes what follows the sections for one observer; nil for a delivery that does not concern it.
    let follow: () -> (ChangeCursor<CollectionSubject>.Pending, RealmCore) -> SectionedResultsChange<Collection>?
}

extension SectionStore {
    func observation<Collection: RealmSectionedResult>(
        keyPaths: [String]?,
        origin: ReaderOrigin,
        _ change: @escaping (SectionTracker<Key, Element>.Step) -> SectionedResultsChange<Collection>?
    ) -> _SectionObservation<Collection> {
        let source = results.observationSource(keyPaths: keyPaths, origin: origin)
        let rule = rule
        return _SectionObservation(source: source, core: results.backing.core) {
            let tracker = SectionTracker(source, rule, evaluatesAll: keyPaths != nil)
            return { pending, core in tracker.step(pending, in: core).flatMap(change) }
        }
    }
}

extension SectionedResultsChange {
    init(_ collection: Collection, _ delta: SectionDelta?) {
        guard let delta else {
            self = .initial(collection)
            return
        }
        func paths(_ positions: [SectionPosition]) -> [IndexPath] {
            positions.map { IndexPath(item: $0.item, section: $0.section) }
        }
        self = .update(
            collection,
            deletions: paths(delta.deletions),
            insertions: paths(delta.insertions),
            modifications: paths(delta.modifications),
            sectionsToInsert: IndexSet(delta.sectionsToInsert),
            sectionsToDelete: IndexSet(delta.sectionsToDelete)
        )
    }
}

extension SectionedResults {
    /// What observers of the sections share.
    public func _observation(
        keyPaths: [String]?,
        file: StaticString,
        line: UInt
    ) -> _SectionObservation<SectionedResults> {
        store.observation(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line)) {
            SectionedResultsChange(SectionedResults($0.store), $0.delta)
        }
    }
}

extension ResultsSection {
    /// What observers of the section share.
    public func _observation(
        keyPaths: [String]?,
        file: StaticString,
        line: UInt
    ) -> _SectionObservation<ResultsSection> {
        let key = key
        return store.observation(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line)) { step in
            let section = ResultsSection(step.store, key: key)
            guard let delta = step.delta else { return SectionedResultsChange(section, nil) }
            let own = delta.restricted(
                from: step.before?.section(of: key),
                to: step.store.contents.section(of: key)
            )
            return own.isEmpty ? nil : SectionedResultsChange(section, own)
        }
    }
}
