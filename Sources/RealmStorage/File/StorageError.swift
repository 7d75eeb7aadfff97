/// An environment failure in the storage engine: what happened, where, and the system's own error number.
@usableFromInline
package struct StorageError: Error, Sendable, CustomStringConvertible {
    /// The class of the failure; the facade maps it to `Realm.Error.Code`.
    package enum Code: Sendable, Equatable {
        /// A system call failed (`errno` says how).
        case io
        /// The disk, or the process's address space for the mapping, is full.
        case full
        case addressSpaceExhausted
        /// A page failed its checksum or its structural check (`page` names it).
        case corrupt
        /// Not a realm file, or a wrong key.
        case notADatabase
        case unsupportedFormat
        case permissionDenied
        case notFound
        /// No file can have the path: it leads through a file, or a loop of symbolic links, or is too long.
        case impossiblePath
        case exists
        case incompatibleLockFile
        /// A stated limit (key length, versions, value size) was exceeded.
        case limit
        case locked
        /// A lock did not come free in its time.
        case timedOut
        /// Somebody has the file open that must not.
        case alreadyOpen
        case readOnly
        /// Writing has stopped on this file after a failed flush; reopen it.
        case writingStopped
        case invalidArgument
        /// The schema of the file is not the one that its reader was made for.
        case schemaOutdated
        /// The file's life is over, and only what is pinned in it can be read.
        case ended
    }

    package var code: Code
    /// What went wrong and what to do, in a sentence.
    package var message: String
    package var path: String?
    package var page: PageNumber?
    package var errorNumber: Int32?
    /// What the failure is about, where the message names it.
    package var subject: Subject?
    /// Whether it is that the file has a log with newer commits, which may be applied.
    var namesUnreadLog = false

    /// The class, the property and the value of a failure; an object, so that errors without one stay small.
    package final class Subject: Sendable {
        package let className: String?
        package let propertyName: String?
        package let value: String?

        package init(className: String? = nil, propertyName: String? = nil, value: String? = nil) {
            self.className = className
            self.propertyName = propertyName
            self.value = value
        }
    }

    package init(
        _ code: Code,
        _ message: String,
        path: String? = nil,
        page: PageNumber? = nil,
        errorNumber: Int32? = nil,
        subject: Subject? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.page = page
        self.errorNumber = errorNumber
        self.subject = subject
    }

    @usableFromInline package var description: String {
        var text = message
        if let page { text += " (page \(page))" }
        if let errorNumber { text += " (errno \(errorNumber))" }
        if let path { text += " [\(path)]" }
        return text
    }

    /// The error for a damaged page.
    package static func corrupt(_ message: String, page: PageNumber, path: String? = nil) -> StorageError {
        StorageError(.corrupt, message, path: path, page: page)
    }
}
