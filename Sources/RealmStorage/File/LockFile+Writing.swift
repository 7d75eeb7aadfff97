import Atomics
import CRealmShims
import Glibc

/// The write lock, and who has it.
extension LockFile {
    private typealias Word = LockFileLayout.Word

    /// Takes the write lock when no other process has it, or has waited for it since this one gave it back.
    func tryLockForWriting() throws(StorageError) -> Bool {
        try failures?.step(.lock, path: path)
        if hasToGiveWay { return false }
        let result = crealm_ofd_lock(descriptor, Int32(F_WRLCK), LockFileLayout.writeByte, 1, 0)
        if result == EAGAIN || result == EACCES { return false }
        if result != 0 { throw SystemCall.error(result, "Cannot take the write lock", path) }
        try refuseIfLeft()
        noteWriter()
        return true
    }

    /// Takes the write lock, blocking the thread while another process has it.
    func lockForWriting() throws(StorageError) {
        try failures?.step(.lock, path: path)
        giveWay()
        waitingThreads(processSlot).wrappingIncrement(ordering: .sequentiallyConsistent)
        // Where this one has left meanwhile, the count is not its own any more.
        defer { if isOwn { waitingThreads(processSlot).wrappingDecrement(ordering: .sequentiallyConsistent) } }
        try LockFile.lock(descriptor, LockFileLayout.writeByte, 1, waits: true, path)
        try refuseIfLeft()
        noteWriter()
    }

    /// Lets go of the write lock when the file was closed while it was waited for: whoever has left keeps nobody out.
    private func refuseIfLeft() throws(StorageError) {
        guard hasLeft else { return }
        LockFile.unlockAll(descriptor)
        throw StorageError(.ended, "The file was closed. Open it again", path: path)
    }

    func unlockForWriting() {
        guard isOwn else { return }
        memory.word32(Word.writerProcess).store(0, ordering: .relaxed)
        noteTurn()
        _ = crealm_ofd_lock(descriptor, Int32(F_UNLCK), LockFileLayout.writeByte, 1, 0)
    }

    private func noteWriter() {
        noteWriter(from: nil)
        memory.word32(Word.writerSlot).store(UInt32(processSlot + 1), ordering: .relaxed)
        memory.word32(Word.writerProcess).store(process, ordering: .relaxed)
        memory.word32(Word.turn).wrappingIncrement(ordering: .sequentiallyConsistent)
        if memory.word32(Word.turnWaiterCount).load(ordering: .sequentiallyConsistent) != 0 {
            _ = crealm_futex_wake_all(memory.address(Word.turn))
        }
    }

    /// Notes where in the program the holder of the write lock came from, and that it begins now: the lock may have been kept.
    func noteWriter(from origin: ReaderOrigin?) {
        memory.word64(Word.writerNanosecond).store(LockFile.nanosecondSinceBoot, ordering: .relaxed)
        memory.word32(Word.writerPlace).store(origin.map { place(of: $0) } ?? 0, ordering: .relaxed)
    }

    /// Whether nobody has the write lock; the system says so, and knows of the dead.
    var isFreeForWriting: Bool { crealm_ofd_is_locked(descriptor, LockFileLayout.writeByte, 1) == 0 }

    /// The process that holds the write lock, when one does; for messages.
    var writerProcess: Int32? {
        let process = memory.word32(Word.writerProcess).load(ordering: .relaxed)
        return process == 0 ? nil : Int32(bitPattern: process)
    }

    /// Who holds the write lock, for how long, and where in the program it came from; for messages.
    var writer: WriteLockHolder? {
        guard let process = writerProcess else { return nil }
        let slot = Int(memory.word32(Word.writerSlot).load(ordering: .relaxed)) - 1
        let place = memory.word32(Word.writerPlace).load(ordering: .relaxed)
        let since = memory.word64(Word.writerNanosecond).load(ordering: .relaxed)
        let now = LockFile.nanosecondSinceBoot
        return WriteLockHolder(
            process: process,
            nanoseconds: now > since ? now - since : 0,
            place: self.place(place, ofSlot: slot)
        )
    }
}

/// Who holds the write lock of a file.
package struct WriteLockHolder: Sendable {
    package var process: Int32
    /// For how long.
    package var nanoseconds: UInt64
    /// Where the program opened the realm that writes, when that is known.
    package var place: String?
}
