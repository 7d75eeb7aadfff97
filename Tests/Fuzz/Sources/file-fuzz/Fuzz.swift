import ActorRealm
import Foundation

/// Files that are opened, one for each input, in a folder of this process.
///
/// The first byte of an input chooses the file that is edited, the rest is the script of `HostileFile.edited(by:)`.
private struct Fuzzer {
    let folder: URL
    let files: [HostileFile]

    init() {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("file-fuzz-\(getpid())")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            files = try (0..<4)
                .map { number in
                    let url = folder.appendingPathComponent("base-\(number).realm")
                    try Library.make(at: url, number: number)
                    return try HostileFile(path: url.path)
                }
            self.folder = folder
        } catch {
            fatalError("The files to edit could not be made: \(error)")
        }
    }

    func run(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let (bytes, edits) = files[Int(first) % files.count].edited(by: Array(input.dropFirst()))
        let edited = folder.appendingPathComponent("edited.realm")
        let salvaged = folder.appendingPathComponent("salvaged.realm")
        do {
            try Data(bytes).write(to: edited)
            var errors: [String] = []
            let outcome = HostileUse.everything(edited.path, salvagingTo: salvaged.path) {
                errors.append("\($0): \($1)")
            }
            guard outcome.isConsistent else {
                fatalError("\(outcome), edited at \(edits): \(errors.joined(separator: "; "))")
            }
            // What is verified can be read through the public interface, where a property that cannot be read is a trap.
            try Data(bytes).write(to: edited)
            try Library.use(edited)
        } catch let error as Realm.Error {
            _ = error
        } catch {
            fatalError("\(error), edited at \(edits)")
        }
        for url in [edited, salvaged] {
            try? FileManager.default.removeItem(at: url)
            try? FileManager.default.removeItem(atPath: url.path + ".lock")
        }
    }
}

private let fuzzer = Fuzzer()

/// What libFuzzer calls, on one thread, with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
    // The bytes are the caller's and live until this returns.
    fuzzer.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
