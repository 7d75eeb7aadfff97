import Foundation
import RealmStorage
import RealmTestSupport
import Testing

/// A child that is forked with a realm open gets an error, and what it does to its copies does not disturb the parent.
@Suite(.serialized) struct ForkTests {
    let directory = TemporaryDirectory()

    @Test func `a forked child gets an error and takes nothing from its parent`() throws {
        let file = try StorageFile.open(path: directory.path("forked.realm"))
        try file.lockForWriting()
        var transaction = try file.beginWrite()
        try PageArray.create(in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        var snapshot: Snapshot? = try file.beginRead()
        let pinned = try #require(snapshot).version
        let status = try ForkedChild.run {
            do {
                _ = try file.beginRead()
                return 1
            } catch {
                guard (error as? StorageError)?.code == .invalidArgument else { return 2 }
            }
            guard (try? file.beginWrite()) == nil, (try? file.tryLockForWriting()) == nil else { return 3 }
            // The child's copies go away; the parent's snapshot and lock must not.
            snapshot = nil
            file.unlockForWriting()
            return 0
        }
        #expect(status == 0)
        // Still pinned: its pages outlive as many commits as would use them again.
        for round in 1...50 {
            transaction = try file.beginWrite()
            for index in 0..<20 { try PageArray.set((round + index) % 200, to: UInt64(round), in: transaction) }
            try file.publish([try PageArray.commit(transaction)])
        }
        let held = try #require(snapshot)
        #expect(held.version == pinned)
        #expect(try PageArray.values(of: held.catalog.root, in: held.view).allSatisfy { $0 == 0 })
        // Still locked: another open file description, as another process has one, does not get the lock.
        let other = open(directory.path("forked.realm.lock"), O_RDWR)
        defer { close(other) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 1 << 41
        lock.l_len = 1
        let setLock: Int32 = 37  // F_OFD_SETLK
        #expect(fcntl(other, setLock, &lock) == -1)
        file.unlockForWriting()
        #expect(fcntl(other, setLock, &lock) == 0)
    }

    @Test func `a program without standard streams has no file of a realm in their place`() throws {
        let path = directory.path("streams.realm")
        let status = try ForkedChild.run {
            for descriptor in 0...STDERR_FILENO { close(descriptor) }
            do {
                let file = try StorageFile.open(path: path)
                try file.lockForWriting()
                let transaction = try file.beginWrite()
                try PageArray.create(in: transaction)
                try file.publish([try PageArray.commit(transaction)])
                file.unlockForWriting()
                let snapshot = try file.beginRead()
                guard try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[0] == 0 else { return 2 }
                for descriptor in 0...STDERR_FILENO where fcntl(descriptor, F_GETFD) >= 0 { return 10 + descriptor }
                return 0
            } catch {
                return 1
            }
        }
        #expect(status == 0)
        #expect(try StorageFile.open(path: path).newestVersion == 2)
    }

    @Test func `a forked child opens the file anew, and reads and writes beside its parent`() throws {
        let path = directory.path("both.realm")
        var options = StorageOptions()
        options.durability = .none
        let file = try StorageFile.open(path: path, options: options)
        try file.lockForWriting()
        let transaction = try file.beginWrite()
        try PageArray.create(in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        file.unlockForWriting()
        let before = file.newestVersion
        let status = try ForkedChild.run {
            do {
                let own = try StorageFile.open(path: path, options: options)
                if own === file { return 1 }
                let snapshot = try own.beginRead()
                guard snapshot.version == before else { return 2 }
                try own.lockForWriting()
                let transaction = try own.beginWrite()
                try PageArray.set(3, to: 33, in: transaction)
                try own.publish([try PageArray.commit(transaction)])
                own.unlockForWriting()
                return 0
            } catch {
                return 3
            }
        }
        #expect(status == 0)
        let snapshot = try file.beginRead()
        #expect(snapshot.version == before + 1)
        #expect(try PageArray.values(of: snapshot.catalog.root, in: snapshot.view)[3] == 33)
    }

    @Test func `what is closed is closed, though a child has copies of the descriptors and is no other program yet`()
        throws
    {
        let path = directory.path("closed.realm")
        var file: StorageFile? = try StorageFile.open(path: path)
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let child = try ForkedChild.start {
            var byte: UInt8 = 0
            close(ends[1])
            return Int32(read(ends[0], &byte, 1))
        }
        #expect(child > 0)
        withExtendedLifetime(file) {}
        file = nil
        // Another file at the same path, with the lock file of the first: refused as long as somebody has that one open.
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(
            atPath: StorageFile.open(path: directory.path("other.realm")).path,
            toPath: path
        )
        #expect(try StorageFile.open(path: path).newestVersion == 1)
        #expect(waitpid(child, nil, WNOHANG) == 0, "the child lives")
        close(ends[1])
        #expect(waitpid(child, nil, 0) == child)
        close(ends[0])
    }

    @Test func `a child that ends its copy of a file gives none of its parent's pages back`() throws {
        let path = directory.path("ended.realm")
        let file = try StorageFile.open(path: path)
        try file.lockForWriting()
        let transaction = try file.beginWrite()
        try PageArray.create(in: transaction)
        try PageArray.set(3, to: 33, in: transaction)
        try file.publish([try PageArray.commit(transaction)])
        file.unlockForWriting()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let status = try ForkedChild.run {
            file.end(because: StorageError(.ended, "Ended in the child", path: path))
            file.giveBackPages { _ in false }
            return 0
        }
        #expect(status == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        withExtendedLifetime(file) {}
    }
}
