import RealmModel
import RealmStorage
import Synchronization

/// One version of a file, pinned, as observers compare it with others: on any thread, several at once.
///
/// Unchecked because a model view that is never moved may be read concurrently, and this one never is.
final class FixedView: @unchecked Sendable {
    let model: ModelView
    /// What is known of collections at this version: observers of the same one evaluate it once.
    let collections = Mutex<[CollectionKey: CollectionSubject.State]>([:])

    init(_ snapshot: Snapshot, schema: DatabaseSchema? = nil) throws(StorageError) {
        model = try ModelView(snapshot: snapshot, schema: schema)
    }

    var version: UInt64 { model.snapshot.version }

    var snapshot: Snapshot { model.snapshot }
}
