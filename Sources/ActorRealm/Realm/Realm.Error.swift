public import Foundation

extension Realm {
    /// What went wrong while opening, reading or writing a realm.
    ///
    /// Match on the code to react to one failure, or read ``message`` to learn what happened, where, and what to do:
    ///
    /// ```swift
    /// do {
    ///     let realm = try await Realm()
    /// } catch Realm.Error.fileNotFound {
    ///     // the file of a read-only realm is missing
    /// } catch let error as Realm.Error where error.code == .schemaMismatch {
    ///     print(error.message)
    /// }
    /// ```
    public struct Error: Swift.Error, Sendable {
        /// The class of a failure.
        public enum Code: Int, Sendable, CaseIterable {
            /// Opening failed for a reason without a code of its own.
            case fail = 1
            /// The system failed to read or write the file.
            case fileAccess = 2
            /// The process may not read or write the file.
            case filePermissionDenied = 3
            /// A file that must not exist does.
            case fileExists = 4
            /// The file, or the directory it belongs in, does not exist.
            case fileNotFound = 5
            /// The file was written by an older version of the library and cannot be upgraded here.
            case fileFormatUpgradeRequired = 6
            /// Another process uses the file through an incompatible version of the library.
            case incompatibleLockFile = 8
            /// The process's address space has no room for the file.
            case addressSpaceExhausted = 9
            /// The classes of the program do not fit the file: raise the schema version and migrate.
            case schemaMismatch = 10
            /// The file must not be open for this operation.
            case alreadyOpen = 12
            /// An argument or a configuration makes no sense.
            case invalidInput = 13
            /// The disk is full, or the file would get longer than the limits of the process allow.
            case outOfDiskSpace = 14
            /// The file is already open with settings that exclude these.
            case incompatibleSession = 15
            /// The file was written by a newer version of the library.
            case unsupportedFileFormatVersion = 16
            /// Kept for source compatibility; never thrown.
            case subscriptionFailed = 18
            /// A file system operation failed, or no file can have the path.
            case fileOperationFailed = 19
            /// Not a realm file, a damaged one, or a wrong key.
            case invalidDatabase = 20
            /// Kept for source compatibility; never thrown.
            case incompatibleHistories = 21
            /// The call was made from another isolation than the realm's.
            case wrongIsolation = 101
            /// The realm already has an open write transaction.
            case alreadyInWriteTransaction = 102
            /// Frozen realms cannot be written or refreshed.
            case frozen = 103
            /// The realm was opened read-only.
            case readOnly = 104
            /// The realm has been closed.
            case closed = 105
            /// Writing has stopped on this file after a failed flush: close every instance and open it again.
            case writingStopped = 106
            /// A stated limit was exceeded.
            case limitExceeded = 107
            /// An object with the primary key exists already.
            case duplicatePrimaryKey = 108
            /// The time given to wait for the write lock passed; the message names who has it.
            case timedOut = 109
            /// Another object has the value of a unique property, or the values of several, already.
            case duplicateValue = 110
            /// An object links to one that stays, through a property whose delete rule denies its deletion.
            case deletionDenied = 111
            /// Another process, or a later opening, changed the schema of the file in what this realm's classes declare: the realm
            /// stays readable at its last version, see ``Realm/isOutdated``.
            case schemaOutdated = 112
            /// A migration would drop values that its block did not carry over; see ``Realm/Configuration/migrationLossPolicy``.
            case lossyMigration = 113
            /// The object, or the owner of the collection, was deleted, or its realm invalidated.
            case invalidatedObject = 114
        }

        /// The class of the failure.
        public let code: Code
        /// What happened, where, and what to do, in a sentence.
        public let message: String
        /// The file that the failure belongs to.
        public let fileURL: URL?
        /// The failure below this one, if there is one.
        public let underlyingError: (any Swift.Error)?
        /// What the failure is about, where the message names it, so that nobody has to read it there.
        public let details: Details?

        /// Creates an error.
        public init(
            _ code: Code,
            _ message: String? = nil,
            fileURL: URL? = nil,
            underlyingError: (any Swift.Error)? = nil,
            details: Details? = nil
        ) {
            self.code = code
            self.message = message ?? "The realm operation failed: \(code)."
            self.fileURL = fileURL
            self.underlyingError = underlyingError
            self.details = details
        }
    }
}

extension Realm.Error {
    /// ``Code/fail``, to catch it by name.
    public static let fail = Code.fail
    /// ``Code/fail`` under its older name.
    public static let callFailed = Code.fail
    /// ``Code/fileAccess``, to catch it by name.
    public static let fileAccess = Code.fileAccess
    /// ``Code/filePermissionDenied``, to catch it by name.
    public static let filePermissionDenied = Code.filePermissionDenied
    /// ``Code/fileExists``, to catch it by name.
    public static let fileExists = Code.fileExists
    /// ``Code/fileNotFound``, to catch it by name.
    public static let fileNotFound = Code.fileNotFound
    /// ``Code/fileFormatUpgradeRequired``, to catch it by name.
    public static let fileFormatUpgradeRequired = Code.fileFormatUpgradeRequired
    /// ``Code/incompatibleLockFile``, to catch it by name.
    public static let incompatibleLockFile = Code.incompatibleLockFile
    /// ``Code/addressSpaceExhausted``, to catch it by name.
    public static let addressSpaceExhausted = Code.addressSpaceExhausted
    /// ``Code/schemaMismatch``, to catch it by name.
    public static let schemaMismatch = Code.schemaMismatch
    /// ``Code/alreadyOpen``, to catch it by name.
    public static let alreadyOpen = Code.alreadyOpen
    /// ``Code/invalidInput``, to catch it by name.
    public static let invalidInput = Code.invalidInput
    /// ``Code/outOfDiskSpace``, to catch it by name.
    public static let outOfDiskSpace = Code.outOfDiskSpace
    /// ``Code/incompatibleSession``, to catch it by name.
    public static let incompatibleSession = Code.incompatibleSession
    /// ``Code/unsupportedFileFormatVersion``, to catch it by name.
    public static let unsupportedFileFormatVersion = Code.unsupportedFileFormatVersion
    /// ``Code/subscriptionFailed``, to catch it by name.
    public static let subscriptionFailed = Code.subscriptionFailed
    /// ``Code/fileOperationFailed``, to catch it by name.
    public static let fileOperationFailed = Code.fileOperationFailed
    /// ``Code/invalidDatabase``, to catch it by name.
    public static let invalidDatabase = Code.invalidDatabase
    /// ``Code/incompatibleHistories``, to catch it by name.
    public static let incompatibleHistories = Code.incompatibleHistories
    /// ``Code/wrongIsolation``, to catch it by name.
    public static let wrongIsolation = Code.wrongIsolation
    /// ``Code/alreadyInWriteTransaction``, to catch it by name.
    public static let alreadyInWriteTransaction = Code.alreadyInWriteTransaction
    /// ``Code/frozen``, to catch it by name.
    public static let frozen = Code.frozen
    /// ``Code/readOnly``, to catch it by name.
    public static let readOnly = Code.readOnly
    /// ``Code/closed``, to catch it by name.
    public static let closed = Code.closed
    /// ``Code/writingStopped``, to catch it by name.
    public static let writingStopped = Code.writingStopped
    /// ``Code/limitExceeded``, to catch it by name.
    public static let limitExceeded = Code.limitExceeded
    /// ``Code/duplicatePrimaryKey``, to catch it by name.
    public static let duplicatePrimaryKey = Code.duplicatePrimaryKey
    /// ``Code/duplicateValue``, to catch it by name.
    public static let duplicateValue = Code.duplicateValue
    /// ``Code/deletionDenied``, to catch it by name.
    public static let deletionDenied = Code.deletionDenied
    /// ``Code/schemaOutdated``, to catch it by name.
    public static let schemaOutdated = Code.schemaOutdated
    /// ``Code/lossyMigration``, to catch it by name.
    public static let lossyMigration = Code.lossyMigration
    /// ``Code/invalidatedObject``, to catch it by name.
    public static let invalidatedObject = Code.invalidatedObject
    /// ``Code/timedOut``, to catch it by name.
    public static let timedOut = Code.timedOut
}

extension Realm.Error.Code {
    /// Lets `catch Realm.Error.fileNotFound` match an error by its code.
    public static func ~= (code: Self, error: any Swift.Error) -> Bool {
        (error as? Realm.Error)?.code == code
    }
}

extension Realm.Error: Hashable {
    /// Two errors are equal when their codes and files are.
    public static func == (left: Realm.Error, right: Realm.Error) -> Bool {
        left.code == right.code && left.fileURL == right.fileURL
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(fileURL)
    }
}

extension Realm.Error: CustomStringConvertible {
    /// The message, and the file where the message does not name it.
    public var description: String {
        guard let path = fileURL?.path, !message.contains(path) else { return message }
        return "\(message) [\(path)]"
    }
}

extension Realm.Error: LocalizedError {
    /// The message and the file.
    public var errorDescription: String? { description }
}

extension Realm.Error: CustomNSError {
    /// The domain of the errors when they are seen as `NSError`.
    public static var errorDomain: String { "io.realm" }

    /// The raw value of ``code``.
    public var errorCode: Int { code.rawValue }

    /// The message, the file and the failure below, as `NSError` names them.
    public var userInfo: [String: Any] { errorUserInfo }

    /// The message, the file and the failure below, as `NSError` names them.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let fileURL { info[NSFilePathErrorKey] = fileURL.path }
        if let underlyingError { info[NSUnderlyingErrorKey] = underlyingError }
        return info
    }
}
