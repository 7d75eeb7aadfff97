import Dispatch
import Foundation

extension Realm {
    /// An opening that goes on in the background.
    public final class AsyncOpenTask: Sendable {
        private let cancellation = OpeningCancellation()
        private let configuration: Configuration
        private let queue: DispatchQueue
        // Called once, on the queue that the caller names.
        private nonisolated(unsafe) let callback: (Result<Realm, any Swift.Error>) -> Void

        init(
            _ configuration: Configuration,
            on queue: DispatchQueue,
            _ callback: @escaping (Result<Realm, any Swift.Error>) -> Void
        ) {
            self.configuration = configuration
            self.queue = queue
            self.callback = callback
        }

        /// Opens the file on a thread of its own.
        ///
        /// - Parameter attempts: How often others have changed what the opening relies on.
        func begin(after attempts: Int = 0) {
            do {
                try DedicatedThread.detach(name: "realm-open") { [self] in
                    deliver(
                        Swift.Result {
                            try Realm.prepare(configuration, for: Opener(cancellation: cancellation))
                        },
                        after: attempts
                    )
                }
            } catch {
                deliver(.failure(Realm.Error.wrap(error, path: configuration.fileURL?.path)), after: attempts)
            }
        }

        private func deliver(_ result: Swift.Result<RealmCoordinator, any Swift.Error>, after attempts: Int) {
            queue.async { [self] in
                if cancellation.isCancelled { return }
                let coordinator: RealmCoordinator
                do {
                    coordinator = try result.get()
                } catch {
                    return callback(.failure(error))
                }
                do {
                    callback(.success(try realm(of: coordinator)))
                } catch Realm.Error.schemaOutdated where attempts < Realm.patience {
                    begin(after: attempts + 1)
                } catch Realm.Error.closed where coordinator.isEnded {
                    // Its life ended meanwhile: the next one begins.
                    begin(after: attempts)
                } catch {
                    callback(.failure(error))
                }
            }
        }

        private func realm(of coordinator: RealmCoordinator) throws -> Realm {
            let place = try RealmIsolation(queue, for: configuration)
            return try coordinator.core(for: place, configuration: configuration, use: .lasting).realm()
        }

        /// Gives the opening up: its callback will not be called, a migration that it runs is rolled back, and it waits for the
        /// write lock no longer.
        public func cancel() {
            cancellation.cancel()
        }
    }
}
