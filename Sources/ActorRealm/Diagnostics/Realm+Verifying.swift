import RealmModel
import RealmStorage

extension Realm {
    /// The version that the realm's objects are read from: it grows with every commit to the file, by any process.
    public var version: UInt64 {
        core.checkAccess()
        return core.version
    }

    /// Reads and checks the whole file at its newest version.
    ///
    /// Every page in use is read and its checksum and structure are checked; every other page must be known as free, once;
    /// rows, indexes and links are compared with each other in both directions. Where the realm has a log, its records are read, too, and
    /// applied in memory to the version from which an opening would begin behind a crash.
    ///
    /// ```swift
    /// do { try realm.verify() } catch let error as Realm.Error { print(error) }     // names the page, or the property
    /// ```
    ///
    /// - Parameter progress: Called now and then with the pages checked so far and the pages of the file.
    /// - Throws: `Realm.Error` with the code `.invalidDatabase` that says what is damaged and where; with `.writingStopped` where writing has
    ///   stopped before all that was committed had come from the log to the file, which is whole then as far as it goes.
    /// - Complexity: O(the size of the file). It blocks its caller and disturbs nobody else.
    public func verify(progress: (_ checkedPages: Int, _ pages: Int) -> Void = { _, _ in }) throws {
        try core.requireAccess()
        do {
            let file = core.coordinator.file
            try FileVerifier.verify(file.beginRead(asking: .inFile), progress: progress)
            if file.isOwingPages, let stopped = file.reasonOfStop { throw stopped }
            try LogAudit.check(file)
        } catch {
            throw Realm.Error.wrap(error, path: core.coordinator.path)
        }
    }
}
