import Foundation
import RealmTestSupport
import Testing

extension PowerCutDisk {
    /// Performs operations one after the other, and has a function look at what power cuts behind each of them leave, as files at a path.
    ///
    /// - Returns: Whether there were more such states than operations.
    mutating func forEachSurvivor(
        of operations: [RecordedFiles.Operation],
        in folder: TemporaryDirectory,
        using random: inout SplitMix64,
        _ body: (_ path: String, _ name: String) throws -> Void
    ) throws -> Bool {
        var count = 0
        for operation in operations {
            perform(operation)
            for variant in 0..<variantCount {
                let state = survivor(variant: variant, using: &random)
                let path = folder.path("state-\(count).realm")
                try Data(state.realm).write(to: URL(fileURLWithPath: path))
                if let log = state.log { try Data(log).write(to: URL(fileURLWithPath: path + ".log")) }
                do {
                    try body(path, "state \(count)")
                } catch {
                    Issue.record("state \(count): \(error)")
                }
                count += 1
            }
        }
        return count > operations.count
    }
}
