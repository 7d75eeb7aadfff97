import ExampleSupport
import Foundation

/// A package list: a file, compressed or not.
struct PackageSource: Sendable {
    let path: String

    /// The program that knows every compression that apt uses.
    private static let unpacker = "/usr/lib/apt/apt-helper"
    private static let packedExtensions: Set<String> = ["lz4", "gz", "xz", "bz2", "lzma", "zst"]

    /// The lists of a folder, or the one that the path names.
    static func all(at path: String) throws -> [PackageSource] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ByteSource.Failure(description: "\(path) does not exist.")
        }
        guard isFolder.boolValue else { return [PackageSource(path: path)] }
        let sources = try FileManager.default.contentsOfDirectory(atPath: path)
            .filter { name in
                let stem = name.split(separator: ".").first.map(String.init) ?? name
                return name == "status" || stem.hasSuffix("Packages") || name.contains("_Packages")
            }
            .sorted()
            .map { PackageSource(path: path + "/" + $0) }
        guard !sources.isEmpty else {
            throw ByteSource.Failure(description: "\(path) holds no file named Packages, *_Packages or status.")
        }
        return sources
    }

    /// What the machine has installed, or the sample that comes with the example where that is unknown.
    static var standard: PackageSource {
        let installed = "/var/lib/dpkg/status"
        if FileManager.default.isReadableFile(atPath: installed) { return PackageSource(path: installed) }
        return sample
    }

    /// A few hundred records of a real machine.
    static var sample: PackageSource {
        let folder = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return PackageSource(path: folder.appendingPathComponent("Fixtures/status").path)
    }

    /// The list's text, as a stream.
    func open() throws -> ByteSource {
        guard let suffix = path.split(separator: ".").last, Self.packedExtensions.contains(String(suffix)) else {
            return try ByteSource(file: path)
        }
        guard FileManager.default.isExecutableFile(atPath: Self.unpacker) else {
            throw ByteSource.Failure(
                description: "\(path) is compressed, and there is no \(Self.unpacker) to unpack it."
            )
        }
        return try ByteSource(program: Self.unpacker, arguments: ["cat-file", path])
    }
}
