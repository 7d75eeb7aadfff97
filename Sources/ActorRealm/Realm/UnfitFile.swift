import Foundation
import Glibc
import RealmStorage

/// A file that does not fit the classes of an opening, which has such a file deleted and made anew.
struct UnfitFile {
    /// Held for as long as that takes, so that no other file is taken for this one.
    let coordinator: RealmCoordinator
    /// The newest version before the look at its schema.
    let version: UInt64

    /// What came of an opening.
    enum Preparation {
        case fits(RealmCoordinator)
        /// The file, unless it is one in memory, which has another one in each life.
        case isUnfit(UnfitFile?, Realm.Error)
    }

    private enum Outcome {
        case deleted
        /// Something else is there, or something was committed since.
        case changed
        /// Others open it just now, and nobody has it open.
        case beingOpened
        /// Another process has it, which may be about to delete it as well.
        case elsewhere
    }

    /// How long other openings are waited for: this one may be a part of one of them, as in the block of a migration.
    private static var patience: Duration { .seconds(10) }

    /// Deletes the file, unless it has become another one, or may fit by now.
    ///
    /// - Parameters:
    ///   - configuration: That of the opening.
    ///   - opener: Who opens it.
    ///   - isLast: Whether this is the last attempt, so that a realm that goes on committing has the file open, whatever it commits.
    /// - Returns: Whether it was deleted.
    /// - Throws: `alreadyOpen` where somebody has the file open, what deleting it throws, and `CancellationError`.
    func delete(for configuration: Realm.Configuration, _ opener: Opener, isLast: Bool) throws -> Bool {
        let path = try OpenSettings(configuration).path
        let refusal = Realm.Error.needed(at: path, for: configuration)
        let patient = ContinuousClock.now + Self.patience
        let end = min(patient, opener.deadline ?? patient)
        while true {
            if opener.cancellation?.isCancelled == true { throw CancellationError() }
            switch try deleteUnlessChanged(at: path, throwing: refusal, isLast: isLast) {
            case .deleted: return true
            case .changed: return false
            case .elsewhere:
                // This process has it no more. Of two that wait for each other one looks again alone.
                usleep(.random(in: 1_000...50_000))
                return false
            case .beingOpened:
                guard ContinuousClock.now < end else { throw refusal }
                usleep(2_000)
            }
        }
    }

    private func deleteUnlessChanged(
        at path: String,
        throwing refusal: Realm.Error,
        isLast: Bool
    ) throws -> Outcome {
        try RealmRegistry.shared.whileClosed(at: path) { isOpen -> Outcome in
            let file = coordinator.file
            // One that was closed before is not told of versions any more.
            guard file.isFile(at: path), !file.isClosed else { return .changed }
            guard file.newestVersion == version || isOpen && isLast else { return .changed }
            if isOpen {
                // Another life of it has begun.
                if coordinator.isEnded { return .changed }
                guard coordinator.isOnlyBeingOpened else { throw refusal }
                return .beingOpened
            }
            // Another process would go on with a file that nobody else finds.
            if file.isOpenElsewhere {
                if isLast { throw refusal }
                return .elsewhere
            }
            try OpenSettings.removeFiles(at: path)
            return .deleted
        }
    }
}

extension Realm.Error {
    /// The error of files that are to be deleted while somebody needs them.
    static func needed(at path: String, for configuration: Realm.Configuration) -> Realm.Error {
        Realm.Error(
            .alreadyOpen,
            "The realm at path '\(path)' is open: close every instance, and let go of frozen copies and references, before "
                + "deleting its files.",
            fileURL: configuration.fileURL
        )
    }
}
