import CRealmShims
import Glibc

/// System calls with `EINTR` retried and failures turned into `StorageError`.
enum SystemCall {
    /// Runs a call that returns -1 on failure, again for as long as it was interrupted.
    static func retrying(_ path: String, _ what: @autoclosure () -> String, _ body: () -> Int) throws(StorageError)
        -> Int
    {
        while true {
            let result = body()
            if result != -1 { return result }
            let number = errno
            if number == EINTR { continue }
            throw error(number, what(), path)
        }
    }

    /// The error for a system call that failed.
    static func error(_ number: Int32, _ what: String, _ path: String) -> StorageError {
        let code: StorageError.Code
        switch number {
        case ENOENT: code = .notFound
        case EACCES, EPERM, EROFS: code = .permissionDenied
        case EEXIST: code = .exists
        case ENOSPC, EDQUOT, EFBIG: code = .full
        case ENOMEM: code = .addressSpaceExhausted
        case ENOTDIR, ENAMETOOLONG: code = .impossiblePath
        default: code = .io
        }
        return StorageError(code, "\(what): \(String(cString: strerror(number)))", path: path, errorNumber: number)
    }
}
