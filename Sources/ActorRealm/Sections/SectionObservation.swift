import Foundation
import RealmQuery
import RealmStorage

/// What the observers of sectioned results, or of one section, have in common.
public struct _SectionObservation<Collection: RealmSectionedResult> {
    let core: RealmCore
    let sections: ObservedSections<Collection>
}

/// Sections that are observed, on their way between isolations.
///
/// Unchecked because what finds the sections' keys is a closure that may be sent, or used in `home` only.
struct ObservedSections<Collection: RealmSectionedResult>: @unchecked Sendable {
    /// Follows the sections for one observer.
    struct Follower {
        /// What a delivery is; nil for one that does not concern the observer.
        let change: (ChangeCursor<CollectionSubject>.Pending, RealmCore) -> SectionedResultsChange<Collection>?
        /// Notes the sections in a transaction whose commit is left out.
        let note: (RealmCore, UInt64?) -> Void
    }

    let source: ObservationSource<CollectionSubject>
    /// Where the closure that finds the keys belongs; nil when that may be called anywhere.
    let home: RealmIsolation?
    /// Begins to follow the sections.
    let follow: () -> Follower

    /// Traps when changes are to be iterated where the closure does not belong.
    func checkIteration(on actor: (any Actor)?) {
        guard let home else { return }
        if let actor, RealmIsolation(actor).isSame(as: home) { return }
        misuse(
            "The changes of sections made by a closure can be iterated only on the actor of their realm, because the closure "
                + "belongs there: these belong to \(home), and were iterated on \(actor.map { "the actor \(type(of: $0))" } ?? "no actor"). "
                + "Section by a key path, or with `sectioned(bySendable:sortDescriptors:)`."
        )
    }
}

extension SectionStore {
    func observation<Collection: RealmSectionedResult>(
        keyPaths: [String]?,
        origin: ReaderOrigin,
        _ change: @escaping (SectionTracker<Key, Element>.Step) -> SectionedResultsChange<Collection>?
    ) -> _SectionObservation<Collection> {
        // A row changes its section by properties that nobody asked for, too.
        let source = results.observationSource(keyPaths: keyPaths, tracksAll: true, origin: origin)
        let rule = rule
        let core = results.backing.core
        let sections = ObservedSections<Collection>(source: source, home: rule.sendable == nil ? core.isolation : nil) {
            let tracker = SectionTracker(source, rule)
            return ObservedSections.Follower(
                change: { pending, core in tracker.step(pending, in: core).flatMap(change) },
                note: { tracker.note(in: $0, keepingFrom: $1) }
            )
        }
        return _SectionObservation(core: core, sections: sections)
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
            // Properties were written that nobody asked for, and no row went to another section.
            if $0.delta?.isEmpty == true { return nil }
            return SectionedResultsChange(SectionedResults($0.store), $0.delta)
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
        let kept = store.kept(key)
        return store.observation(keyPaths: keyPaths, origin: ReaderOrigin(fileID: file, line: line)) { step in
            guard let key = step.store.key(kept) else { return nil }
            let section = ResultsSection(step.store, key: key)
            guard let delta = step.delta else { return SectionedResultsChange(section, nil) }
            let backing = step.store.results.backing
            let own = delta.restricted(
                from: step.before?.section(of: key, in: backing),
                to: step.store.contents.section(of: key, in: backing)
            )
            return own.isEmpty ? nil : SectionedResultsChange(section, own)
        }
    }
}
