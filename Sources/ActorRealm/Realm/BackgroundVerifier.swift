import Dispatch
import Logging
import RealmModel
import RealmStorage
import Synchronization

/// Reads every page of a file once, slowly, on a thread of its own.
final class BackgroundVerifier: Sendable {
    private let file: WeakReference<StorageFile>
    private let path: String
    private let pace: VerificationPace
    private let logger: Logger
    private let report: (@Sendable (Realm.VerificationReport) -> Void)?
    private let isStopped = Mutex(false)
    private let wakeUp = DispatchSemaphore(value: 0)

    init(file: StorageFile, configuration: Realm.Configuration) {
        self.file = WeakReference(file)
        path = file.path
        pace = VerificationPace(bytesPerSecond: configuration.verificationRate)
        logger = configuration.logger ?? Logger.shared
        report = configuration.verificationReport
    }

    /// Begins to read.
    ///
    /// - Throws: `limit` when the system starts no thread.
    func start() throws(StorageError) {
        try DedicatedThread.detach(name: "realm-verify") { self.run() }
    }

    /// Ends reading soon, without a report.
    func stop() {
        isStopped.withLock { $0 = true }
        wakeUp.signal()
    }

    private func run() {
        let start = ContinuousClock.now
        var version: UInt64 = 0
        var checked = 0
        var failure: Realm.Error?
        do throws(StorageError) {
            guard let snapshot = try file.object?.beginRead(asking: .inFile) else { return }
            version = snapshot.version
            try HeaderAudit.check(snapshot)
            try ModelVerifier.forEachReachablePage(in: snapshot) { (run) throws(StorageError) in
                // It waits between pages.
                try HeaderAudit.requireLength(of: snapshot)
                _ = try snapshot.view.verifiedPointer(to: run)
                checked += Int(run.pageCount)
                if wait(pace.pause(behind: checked * pageByteCount, after: ContinuousClock.now - start)) {
                    throw StorageError(.io, "Verification has been stopped", path: path)
                }
            }
        } catch {
            // Whatever it met: the file may be on its way out.
            if isStopped.withLock({ $0 }) { return }
            failure = Realm.Error(storage: error, path: path)
        }
        tell(
            Realm.VerificationReport(
                path: path,
                version: version,
                checkedPageCount: checked,
                duration: ContinuousClock.now - start,
                error: failure
            )
        )
    }

    /// Waits for so long; true when it is to end.
    private func wait(_ pause: Duration?) -> Bool {
        guard let pause else { return isStopped.withLock { $0 } }
        let nanoseconds =
            Int(pause.components.seconds) * 1_000_000_000 + Int(pause.components.attoseconds / 1_000_000_000)
        _ = wakeUp.wait(timeout: .now() + .nanoseconds(nanoseconds))
        return isStopped.withLock { $0 }
    }

    private func tell(_ result: Realm.VerificationReport) {
        let metadata: Logger.Metadata = [
            "realm.path": "\(path)", "realm.version": "\(result.version)", "realm.pages": "\(result.checkedPageCount)",
            "realm.duration": "\(result.duration)",
        ]
        if let error = result.error {
            logger
                .error(
                    "Verification in the background ended with an error. Restore the file from a backup, or salvage it.",
                    metadata: metadata.merging(["error": "\(error)"]) { $1 }
                )
        } else {
            logger.info("Verification in the background found all pages whole.", metadata: metadata)
        }
        report?(result)
    }
}
