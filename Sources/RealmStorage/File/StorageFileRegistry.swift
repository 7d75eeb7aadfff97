import Synchronization

/// The open realm files of this process, by device and inode: two hard links are one realm.
final class StorageFileRegistry: Sendable {
    /// This process's: a forked child opens its files anew.
    static var shared: StorageFileRegistry { processes.value }

    private static let processes = PerProcess { StorageFileRegistry() }

    /// What is known of one file.
    private final class Place: Sendable {
        /// Held while the file is opened, so that it is opened once: for as long as other processes hold that up.
        ///
        /// No other file waits for that: whoever holds this one up may be opening another one.
        let opening = Mutex(())
        /// Held for a moment.
        private let reference = Mutex<WeakReference<StorageFile>?>(nil)

        /// The instance of the last opening, while somebody holds it.
        var file: StorageFile? { reference.withLock { $0?.object } }

        /// Notes the instance of an opening.
        func note(_ file: StorageFile) { reference.withLock { $0 = WeakReference(file) } }
    }

    private struct State {
        /// With how many open the file, or wait to.
        var places: [FileIdentity: (place: Place, userCount: Int)] = [:]
        /// With so many of them it is looked for those that nobody needs.
        var placeLimit = StorageFileRegistry.leastPlaceLimit

        /// Forgets the places of files that nobody holds any more; looks at twice as many next time, so that each opening pays for a few.
        ///
        /// - Returns: The files that were met, each of which the caller may be the last to hold.
        mutating func forgetUnneededPlaces() -> [StorageFile] {
            var held: [StorageFile] = []
            places = places.filter { entry in
                let file = entry.value.place.file
                if let file { held.append(file) }
                return file != nil || entry.value.userCount > 0
            }
            placeLimit = max(StorageFileRegistry.leastPlaceLimit, 2 * places.count)
            return held
        }
    }

    /// Below so many places none is looked at.
    private static let leastPlaceLimit = 64

    private let state = Mutex(State())

    /// A file that somebody holds.
    ///
    /// Waits for nobody: a file that is being opened is not open.
    func file(of identity: FileIdentity) -> StorageFile? { state.withLock { $0.places[identity]?.place }?.file }

    /// The open file, or one opened now.
    func file(path: String, options: StorageOptions) throws(StorageError) -> StorageFile {
        var data = try StorageFile.openData(path: path, options: options)
        var replacements = 0
        while true {
            do throws(StorageError) {
                return try file(data: data, path: path, options: options)
            } catch {
                // Another process may have put a compacted file into the place of this one meanwhile.
                let other = try StorageFile.openData(path: path, options: options)
                guard other.identity != data.identity, replacements < 8 else { throw error }
                data = other
                replacements += 1
            }
        }
    }

    private func file(data: DataFile, path: String, options: StorageOptions) throws(StorageError) -> StorageFile {
        let place = takePlace(of: data.identity)
        defer { giveBackPlace(of: data.identity) }
        let result = place.opening.withLock { _ -> Result<StorageFile, StorageError> in
            // One on which writing has stopped may live on for its readers, and so may one that can only read, for the time of a
            // look at the file; whoever opens the file to write gets a new one, beside them as beside another process.
            var isBesideOwn = false
            if let file = place.file {
                if !file.hasStopped, options.isReadOnly || !file.options.isReadOnly { return .success(file) }
                // Nobody can write beside a stopped file with a log. Its last user is waited for, unless somebody reads a version: who does
                // so for a moment was waited for before.
                let closesSoon = file.hasStopped && file.keepsLog && !options.isReadOnly && file.pinnedVersionCount == 0
                isBesideOwn = !file.isClosed && !closesSoon
            }
            do throws(StorageError) {
                let file = try StorageFile.openUnshared(
                    data: data,
                    path: path,
                    options: options,
                    besideOwn: isBesideOwn
                )
                place.note(file)
                return .success(file)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The place of a file, which stays until it is given back.
    private func takePlace(of identity: FileIdentity) -> Place {
        let (place, held) = state.withLock { state -> (Place, [StorageFile]) in
            if let known = state.places[identity] {
                state.places[identity]?.userCount += 1
                return (known.place, [])
            }
            let held = state.places.count < state.placeLimit ? [] : state.forgetUnneededPlaces()
            let place = Place()
            state.places[identity] = (place: place, userCount: 1)
            return (place, held)
        }
        // What ends with the last reference ends outside the lock.
        withExtendedLifetime(held) {}
        return place
    }

    /// Forgets the place of a file, unless somebody holds that, or others use it.
    private func giveBackPlace(of identity: FileIdentity) {
        let held = state.withLock { state -> StorageFile? in
            state.places[identity]?.userCount -= 1
            let file = state.places[identity]?.place.file
            if file == nil, state.places[identity]?.userCount == 0 { state.places[identity] = nil }
            return file
        }
        withExtendedLifetime(held) {}
    }
}
