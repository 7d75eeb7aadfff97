import RealmStorage

/// Where a log stands, in front of the real place, to which it leaves whatever it does not do itself.
///
/// Unless it says otherwise, the space of a log is made with the log, and not ahead.
package protocol ForwardingDirectory: LogDirectory {
    var base: LogFile { get }

    /// The device of a log that was just made: the log itself, or one in front of it.
    func makeDevice(_ log: any StorageDevice) -> any StorageDevice
}

extension ForwardingDirectory {
    package var path: String { base.path }

    package func open(forReadingOnly isReadOnly: Bool) throws(StorageError) -> (any StorageDevice)? {
        try base.open(forReadingOnly: isReadOnly)
    }

    package func create(
        _ header: LogHeader,
        in space: UnnamedFile?,
        forUsersOf realm: (any StorageDevice)?
    ) throws(StorageError) -> any StorageDevice {
        makeDevice(try base.create(header, in: space, forUsersOf: realm))
    }

    package func makeDevice(_ log: any StorageDevice) -> any StorageDevice { log }

    package func remove() throws(StorageError) { try base.remove() }
}
