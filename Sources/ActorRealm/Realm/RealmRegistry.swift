import CRealmShims
import Dispatch
import Foundation
import Logging
import RealmModel
import RealmStorage
import Synchronization

/// The open files of this process.
final class RealmRegistry: Sendable {
    /// What is known of one path.
    private final class Slot: Sendable {
        /// Held while the file is opened, replaced or deleted, so that it is opened once: for as long as that takes.
        let opening = Gate()
        /// Held for a moment: whoever asks what is open may be a thread of Swift's pool, and waits for no opening.
        private let reference = Mutex<WeakReference<RealmCoordinator>?>(nil)

        /// The coordinator of the last opening, while somebody holds it.
        var coordinator: RealmCoordinator? { reference.withLock { $0?.object } }

        /// Notes the coordinator of an opening.
        func note(_ coordinator: RealmCoordinator) { reference.withLock { $0 = WeakReference(coordinator) } }
    }

    /// Held while a file is opened, replaced or deleted: by one path of it, or by any.
    private final class Gate: Sendable {
        private let lock = Mutex(())
        /// The thread that has it, 0 for none.
        private let holder = Atomic<UInt>(0)
        /// How many have passed it.
        private let passCount = Atomic<Int>(0)

        /// Runs what opens, replaces or deletes a file while nobody else does, given whether nobody has passed before.
        ///
        /// - Throws: `alreadyOpen` within such a call on the same thread, as in a block of the program that decides whether to compact the
        ///   file: it would wait for itself.
        func pass<Result: Sendable>(to path: String, _ body: (_ isFirst: Bool) throws -> Result) throws -> Result {
            let thread = UInt(crealm_thread_word())
            if holder.load(ordering: .relaxed) == thread {
                throw Realm.Error(
                    .alreadyOpen,
                    "The realm at path '\(path)' is just being opened, replaced or deleted by the caller: do that "
                        + "behind it.",
                    fileURL: URL(fileURLWithPath: path)
                )
            }
            return try lock.withLock { _ in
                holder.store(thread, ordering: .relaxed)
                defer { holder.store(0, ordering: .relaxed) }
                return try body(passCount.wrappingAdd(1, ordering: .relaxed).oldValue == 0)
            }
        }
    }

    private struct State {
        /// Of the files that are being opened, replaced or deleted, with how many do or wait to.
        var gates: [FileIdentity: (gate: Gate, userCount: Int)] = [:]
        /// How often a gate was taken or given back, of whatever file.
        var gateChanges: UInt64 = 0
        /// By the bytes of the path, as the system tells files apart, with how many open, replace or delete the file, or wait to.
        var slots: [TextKey: (slot: Slot, userCount: Int)] = [:]
        /// With so many of them it is looked for those that nobody needs.
        var slotLimit = RealmRegistry.leastSlotLimit
        /// Those of the files that are open, whatever names they were opened by.
        var coordinators: [WeakReference<RealmCoordinator>] = []

        /// Forgets the slots of files that were closed; looks at twice as many next time, so that each opening pays for a few.
        ///
        /// - Returns: The coordinators that were met, each of which the caller may be the last to hold.
        mutating func forgetUnneededSlots() -> [RealmCoordinator] {
            var held: [RealmCoordinator] = []
            slots = slots.filter { entry in
                let coordinator = entry.value.slot.coordinator
                if let coordinator { held.append(coordinator) }
                return coordinator != nil || entry.value.userCount > 0
            }
            slotLimit = max(RealmRegistry.leastSlotLimit, 2 * slots.count)
            return held
        }
    }

    /// This process's: a forked child opens its files anew.
    static var shared: RealmRegistry { processes.value }

    private static let processes = PerProcess { RealmRegistry() }

    private let state = Mutex(State())

    /// The coordinator of a file that is open already.
    ///
    /// Waits for nobody: a file that is being opened is not open.
    func existing(at path: String) -> RealmCoordinator? {
        guard let slot = state.withLock({ $0.slots[TextKey(path)]?.slot }), let coordinator = slot.coordinator,
            !coordinator.isEnded
        else { return nil }
        return coordinator
    }

    /// The coordinator of a file, opened or created when it is not open.
    ///
    /// Blocks in the device.
    func coordinator(for configuration: Realm.Configuration) throws -> RealmCoordinator {
        let settings = try OpenSettings(configuration)
        let seed = settings.isReadOnly || settings.isTemporary ? nil : configuration.seedFilePath
        while true {
            if let coordinator = try coordinator(for: configuration, settings, seed) { return coordinator }
            // Not while the file's slot is held: the seed may be open, and its own seed may be this file.
            if let seed { try SeedFile.copy(seed, to: settings.path, for: configuration.fileURL) }
        }
    }

    /// The coordinator of a file, opened or created when it is not open; nil when it is to be made from its seed.
    private func coordinator(
        for configuration: Realm.Configuration,
        _ settings: OpenSettings,
        _ seed: URL?
    ) throws -> RealmCoordinator? {
        try withSlot(at: settings.path) { slot in
            if let coordinator = slot.coordinator, !coordinator.isForsaken,
                try !isClosedToBeCompacted(coordinator, settings, configuration)
            {
                guard settings.isReadOnly || !coordinator.isReadOnly else {
                    throw Realm.Error(
                        .incompatibleSession,
                        "Realm at path '\(settings.path)' already opened with different read permissions.",
                        fileURL: configuration.fileURL
                    )
                }
                try coordinator.verifyInBackground(as: configuration)
                return coordinator
            }
            let opened = try alone(with: settings.path) { (identity) throws -> RealmCoordinator? in
                closeStopped(identity, at: settings.path, slot.coordinator, toRead: settings.isReadOnly)
                // Whoever was here before may have deleted it.
                if seed != nil, SeedFile.isNeeded(at: settings.path) { return nil }
                do {
                    return try open(settings, configuration, createsFile: seed == nil)
                } catch Realm.Error.fileNotFound where seed != nil && SeedFile.isNeeded(at: settings.path) {
                    // Somebody has deleted it since, without the library or in another process.
                    return nil
                }
            }
            guard let coordinator = opened else { return nil }
            try coordinator.verifyInBackground(as: configuration)
            slot.note(coordinator)
            return coordinator
        }
    }

    /// Runs what deletes or replaces a file while nobody can open it, given whether it is open.
    ///
    /// Throws `alreadyOpen` within such a call, or an opening, on the same thread.
    ///
    /// The life of a file that nobody needs ends before, whoever still holds what was reached from its realms. What reads a version yet, for
    /// an observer, does so in the file that is deleted; one that is replaced must be closed.
    func whileClosed<Result: Sendable>(
        at path: String,
        toReplace isReplaced: Bool = false,
        _ body: (_ isOpen: Bool) throws -> Result
    ) throws -> Result {
        try withSlot(at: path) { slot in
            try alone(with: path) { _ in
                let users = users(ofFileAt: path, slot.coordinator)
                let isOpen = isOpen(users) || isReplaced && !users.allSatisfy { $0.closeWhenUnread() }
                // Also where that throws: their lives are over.
                defer {
                    if !isOpen, !isReplaced {
                        for user in users where !user.isTemporary { _ = user.file.closeUnlessRead() }
                    }
                }
                return try body(isOpen)
            }
        }
    }

    /// The coordinators of a file, by whatever name it was opened, among them that of a path, whose file may be gone.
    private func users(ofFileAt path: String, _ coordinator: RealmCoordinator?) -> [RealmCoordinator] {
        var users = living.filter { !$0.file.isClosed && $0.file.isFile(at: path) }
        if let coordinator, !users.contains(where: { $0 === coordinator }) { users.append(coordinator) }
        return users
    }

    /// Ends the lives of a file, and tells whether somebody needs one of them.
    private func isOpen(_ users: [RealmCoordinator]) -> Bool {
        let needed = users.filter { !$0.endIfClosed() }
        return !needed.isEmpty
    }

    /// Whether a file is opened anew though something of its closed realms is still held: it is to be asked whether to compact it.
    private func isClosedToBeCompacted(
        _ coordinator: RealmCoordinator,
        _ settings: OpenSettings,
        _ configuration: Realm.Configuration
    ) throws -> Bool {
        guard configuration.shouldCompactOnLaunch != nil, !coordinator.isTemporary, coordinator.isLeft else {
            return false
        }
        return try alone(with: settings.path) { _ in
            let users = users(ofFileAt: settings.path, coordinator)
            if isOpen(users) { return coordinator.isEnded }
            // One that somebody reads yet is not compacted.
            _ = users.allSatisfy { $0.closeWhenUnread() }
            return true
        }
    }

    /// Closes the files of a path on which writing has stopped, and which nobody needs, whoever still holds them: beside one with a log nobody
    /// could write.
    ///
    /// What is computed for an observer, or verified, may read for a moment more: it is waited for, where it is in the way.
    private func closeStopped(
        _ identity: FileIdentity?,
        at path: String,
        _ coordinator: RealmCoordinator?,
        toRead isReadOnly: Bool
    ) {
        var waited: [StorageFile] = []
        if living.contains(where: { $0.file.hasStopped }) {
            for user in users(ofFileAt: path, coordinator) where user.file.hasStopped && !user.isTemporary {
                waited.append(user.file)
                guard user.endIfClosed() else { continue }
                let patience = DispatchTimeInterval.seconds(user.file.keepsLog && !isReadOnly ? 1 : 0)
                _ = user.closeWhenUnread(within: patience)
            }
        }
        // It may be all that holds the file, which ends with it.
        guard !isReadOnly, let identity, let file = StorageFile.stopped(identity), file.keepsLog,
            !waited.contains(where: { $0 === file })
        else { return }
        _ = file.waitForReaders(within: .seconds(1)) { file.pinnedVersionCount == 0 }
    }

    /// Runs what opens, replaces or deletes a file while nobody else does so by another name of it; given which file that is, nil for none.
    private func alone<Result: Sendable>(
        with path: String,
        _ body: (FileIdentity?) throws -> Result
    ) throws -> Result {
        while true {
            let changes = state.withLock { $0.gateChanges }
            guard let identity = FileIdentity.ofFile(at: path) else { return try body(nil) }
            let (gate, isUnchanged) = state.withLock { state -> (Gate, Bool) in
                // Nobody of this process has replaced it since the path was looked at, nor is there somebody who may yet.
                let isUnchanged = state.gateChanges == changes && state.gates[identity] == nil
                let gate = state.gates[identity]?.gate ?? Gate()
                state.gates[identity, default: (gate, 0)].userCount += 1
                state.gateChanges &+= 1
                return (gate, isUnchanged)
            }
            defer {
                state.withLock { state in
                    state.gates[identity]?.userCount -= 1
                    if state.gates[identity]?.userCount == 0 { state.gates[identity] = nil }
                    state.gateChanges &+= 1
                }
            }
            let result: Result? = try gate.pass(to: path) { (isFirst) throws -> Result? in
                // Whoever was before may have replaced it, also one who has come to the gate later.
                guard isUnchanged && isFirst || FileIdentity.ofFile(at: path) == identity else { return nil }
                return try body(identity)
            }
            if let result { return result }
        }
    }

    /// How many open, replace or delete the file at a path just now, or wait to; for tests.
    func userCount(ofFileAt path: String) -> Int {
        guard let identity = FileIdentity.ofFile(at: path) else { return 0 }
        return state.withLock { $0.gates[identity]?.userCount ?? 0 }
    }

    /// The coordinators that somebody holds.
    private var living: [RealmCoordinator] { state.withLock { state in state.coordinators }.compactMap(\.object) }

    /// The coordinators of the files that are open.
    private var known: [RealmCoordinator] { living.filter { !$0.isEnded } }

    /// The coordinator of an open file: the one that it has under another name, or a new one.
    ///
    /// A file with two names, by a hard link or through a folder with two, has one queue of writers all the same.
    private func coordinator(
        of file: StorageFile,
        _ path: String,
        _ settings: OpenSettings,
        _ temporary: TemporaryRealmFile?
    ) -> RealmCoordinator {
        let (coordinator, before) = state.withLock { state in
            let living = state.coordinators.compactMap(\.object)
            let coordinator =
                living.first { $0.file === file && !$0.isEnded }
                ?? RealmCoordinator(file: file, path: path, settings: settings, temporary: temporary)
            state.coordinators = (living.filter { $0 !== coordinator } + [coordinator]).map { WeakReference($0) }
            return (coordinator, living)
        }
        // What ends with the last reference ends outside the lock.
        withExtendedLifetime(before) {}
        return coordinator
    }

    /// Runs what opens, replaces or deletes the file of a path while nobody else does so by this path.
    private func withSlot<Result: Sendable>(
        at path: String,
        _ body: (Slot) throws -> Result
    ) throws -> Result {
        let slot = takeSlot(at: TextKey(path))
        defer { giveBackSlot(at: TextKey(path)) }
        return try slot.opening.pass(to: path) { _ in try body(slot) }
    }

    /// The slot of a path, which stays until it is given back.
    private func takeSlot(at key: TextKey) -> Slot {
        let (slot, held) = state.withLock { state -> (Slot, [RealmCoordinator]) in
            if let known = state.slots[key] {
                state.slots[key]?.userCount += 1
                return (known.slot, [])
            }
            let held = state.slots.count < state.slotLimit ? [] : state.forgetUnneededSlots()
            let slot = Slot()
            state.slots[key] = (slot: slot, userCount: 1)
            return (slot, held)
        }
        // What ends with the last reference ends outside the lock.
        withExtendedLifetime(held) {}
        return slot
    }

    /// Forgets the slot of a path, unless its file is open, or others use it.
    private func giveBackSlot(at key: TextKey) {
        let held = state.withLock { state -> RealmCoordinator? in
            state.slots[key]?.userCount -= 1
            let coordinator = state.slots[key]?.slot.coordinator
            if coordinator == nil, state.slots[key]?.userCount == 0 { state.slots[key] = nil }
            return coordinator
        }
        withExtendedLifetime(held) {}
    }

    /// How many paths there are slots of; for tests.
    var slotCount: Int { state.withLock { $0.slots.count } }

    /// Below so many slots none is looked at.
    static let leastSlotLimit = 64

    private func verify(_ file: StorageFile, _ verification: Realm.Configuration.Verification) throws(StorageError) {
        let isAskedFor = verification.contains(.onOpen)
        guard file.byteCount <= StorageFile.verifiedByteCount || isAskedFor else { return }
        let snapshot = try file.beginRead(asking: .inFile)
        // The file may be open still from before, at the version that was looked at then.
        guard isAskedFor || file.examinedVersion != snapshot.version else { return }
        // The file may be open still from before, with pages that were read then.
        try FileVerifier.examine(snapshot, isThorough: isAskedFor)
        file.examinedVersion = snapshot.version
    }

    /// The open file, written anew before when the configuration wants it.
    private func openCompacted(
        _ path: String,
        _ settings: OpenSettings,
        _ configuration: Realm.Configuration,
        createsFile: Bool
    ) throws -> StorageFile {
        var options = settings.options
        if !createsFile { options.createsIfMissing = false }
        guard configuration.shouldCompactOnLaunch != nil else {
            return try StorageFile.open(path: path, options: options)
        }
        let isNew = settings.isTemporary || FileIdentity.ofFile(at: path) == nil
        do {
            let file = try StorageFile.open(path: path, options: options)
            // There is nothing to compact.
            if isNew { return file }
            // Somebody uses it by another name.
            if known.contains(where: { $0.file === file }) { return file }
            if try !file.compactOnLaunch(configuration) { return file }
        }
        return try StorageFile.open(path: path, options: options)
    }

    /// Opens a file that is not open, or makes an empty one where there is none and `createsFile` says so.
    private func open(
        _ settings: OpenSettings,
        _ configuration: Realm.Configuration,
        createsFile: Bool
    ) throws -> RealmCoordinator {
        var temporary: TemporaryRealmFile?
        do {
            var path = settings.path
            if settings.isTemporary {
                // A file of its own for each life: the last one's may just be going away. Who only reads finds none.
                if !settings.isReadOnly { temporary = try TemporaryFiles.make(stem: path) }
                path = temporary?.path ?? TemporaryFiles.newPath(stem: path)
            }
            // What cannot be removed now is in nobody's way.
            if !settings.isTemporary, !settings.isReadOnly { _ = try? StorageFile.removeUnfinished(at: path) }
            let file = try openCompacted(path, settings, configuration, createsFile: createsFile)
            if let temporary, !temporary.isOpen(as: file) {
                throw StorageError(.io, "The file of an in-memory realm was replaced", path: path)
            }
            if let version = file.rolledBackVersion {
                (configuration.logger ?? .shared)
                    .notice(
                        "A commit that was cut short, and never acknowledged, was rolled back.",
                        metadata: ["realm.path": "\(settings.path)", "realm.version": "\(version)"]
                    )
            }
            try verify(file, configuration.verification)
            return coordinator(of: file, path, settings, temporary)
        } catch {
            temporary?.remove()
            throw Realm.Error.wrap(error, path: settings.path)
        }
    }
}
