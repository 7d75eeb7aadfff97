import Foundation
import RealmStorage

extension Realm.Error {
    /// The public form of a failure in the layers below.
    init(storage error: StorageError, path: String? = nil) {
        let code: Code =
            switch error.code {
            case .io: .fileAccess
            case .full: .outOfDiskSpace
            case .addressSpaceExhausted: .addressSpaceExhausted
            case .corrupt, .notADatabase: .invalidDatabase
            case .unsupportedFormat: .unsupportedFileFormatVersion
            case .permissionDenied: .filePermissionDenied
            case .notFound: .fileNotFound
            case .impossiblePath: .fileOperationFailed
            case .exists: .fileExists
            case .incompatibleLockFile: .incompatibleLockFile
            case .limit: .limitExceeded
            case .alreadyOpen: .alreadyOpen
            case .locked: .alreadyInWriteTransaction
            case .timedOut: .timedOut
            case .readOnly: .readOnly
            case .writingStopped: .writingStopped
            case .invalidArgument: .invalidInput
            case .schemaOutdated: .schemaOutdated
            case .ended: .closed
            }
        self.init(
            code,
            error.description,
            fileURL: (error.path ?? path).map { URL(fileURLWithPath: $0) },
            underlyingError: error,
            details: error.subject.map {
                Details(className: $0.className, propertyName: $0.propertyName, value: $0.value)
            }
        )
    }

    /// Any error of a layer below in its public form; errors that already are public, or the caller's, stay as they are.
    static func wrap(_ error: any Swift.Error, path: String? = nil) -> any Swift.Error {
        if let error = error as? StorageError { return Realm.Error(storage: error, path: path) }
        return error
    }
}
