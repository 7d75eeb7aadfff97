import CRealmShims
import Foundation
import Synchronization

/// Another process's hold on a realm's write lock: an open file description of its own has the same effect.
final class ForeignWriteLock: Sendable {
    struct Failure: Error {
        let number: Int32
    }

    private let descriptor: Int32
    private let isHeld = Mutex(true)
    private static let writeByte: Int64 = 1 << 41

    init(of path: String) throws {
        // A process that another test spawns must not inherit the lock: it would keep it.
        descriptor = open(path + ".lock", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        // A realm of this process that was just closed may still have it for a moment.
        let result = crealm_ofd_lock(descriptor, Int32(F_WRLCK), Self.writeByte, 1, 1)
        guard result == 0 else { throw Failure(number: result) }
    }

    deinit {
        release()
    }

    /// Whether the write lock of a realm is held by anybody, as another process sees it.
    static func isHeld(of path: String) throws -> Bool {
        let descriptor = open(path + ".lock", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        defer { close(descriptor) }
        return crealm_ofd_is_locked(descriptor, writeByte, 1) != 0
    }

    /// Gives the lock back.
    func release() {
        isHeld.withLock { isHeld in
            if isHeld {
                _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), Self.writeByte, 1, 0)
                close(descriptor)
            }
            isHeld = false
        }
    }
}
