import Synchronization

/// The need for a version of a file, of a frozen copy or a reference: while one is left the file is neither deleted nor replaced.
final class FileUse: Sendable {
    private let coordinator: RealmCoordinator

    init(of coordinator: RealmCoordinator) {
        self.coordinator = coordinator
        coordinator.copyCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
    }

    deinit {
        coordinator.copyCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    }
}
