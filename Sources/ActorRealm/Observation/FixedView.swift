import RealmModel
import RealmStorage

/// One version of a file, pinned, as observers compare it with others: on any thread, several at once.
///
/// Unchecked because a model view that is never moved may be read concurrently, and this one never is.
final class FixedView: @unchecked Sendable {
    let model: ModelView

    init(_ snapshot: Snapshot, schema: DatabaseSchema? = nil) throws(StorageError) {
        model = try ModelView(snapshot: snapshot, schema: schema)
    }

    var version: UInt64 { model.snapshot.version }

    var snapshot: Snapshot { model.snapshot }
}
