import Foundation

@testable import RealmStorage

/// Turns closed files into such as releases with the format before have left, and reads files as these did.
enum FormerFile {
    /// Changes every copy of a closed file's header.
    static func editHeaders(_ path: String, _ edit: (inout FileHeader) -> Void) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        bytes.withUnsafeMutableBytes { bytes in
            for page in 0..<FileHeader.slotPageCount {
                let start = bytes.baseAddress! + page * pageByteCount
                guard case .valid(var header) = FileHeader.read(start, page: PageNumber(page)) else { continue }
                edit(&header)
                header.store(to: start, page: PageNumber(page))
            }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// Gives a closed file the former format.
    static func make(_ path: String) throws {
        try editHeaders(path) { header in
            header.format = FileHeader.formerFormatVersion
            header.identifier.high = 0
        }
    }

    /// What a release that knows nothing but the former format takes for the newest version of a file: nil when it refuses the file.
    static func newestVersion(in image: [UInt8]) -> UInt64? {
        image.withUnsafeBytes { bytes in
            (0..<FileHeader.slotPageCount)
                .compactMap { page -> UInt64? in
                    let start = bytes.baseAddress! + page * pageByteCount
                    guard case .valid(let header) = FileHeader.read(start, page: PageNumber(page)), header.isFormer
                    else {
                        return nil
                    }
                    return header.version
                }
                .max()
        }
    }
}
