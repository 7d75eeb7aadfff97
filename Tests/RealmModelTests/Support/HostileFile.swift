import Foundation

@testable import RealmModel
@testable import RealmStorage

/// A closed file that is edited and sealed again: whoever opens it finds every checksum right and anything at all in its pages.
struct HostileFile {
    /// A run of pages, and where its checksum stands.
    struct Run {
        let page: Int
        let pageCount: Int
        let checksum: UInt64
        let places: [Int]
    }

    let original: [UInt8]
    /// Children before their parents.
    let runs: [Run]

    /// Whether the newest version has a record of commits in pages of its own.
    static func hasRecord(_ path: String) throws -> Bool {
        try !StorageFile.open(path: path).beginRead().header.spaceSegment.isNone
    }

    /// Takes a closed file as it is.
    init(path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        original = bytes
        var references: Set<PageReference> = []
        do {
            let snapshot = try StorageFile.open(path: path).beginRead()
            try ModelVerifier.forEachReachablePage(in: snapshot) { references.insert($0) }
            var log = snapshot.header.spaceSegment
            while !log.isNone {
                references.insert(log)
                log = try SpaceSegment.read(log, in: snapshot.view).previous
            }
        }
        var places: [UInt64: [Int]] = [:]
        let checksums = Set(references.map(\.checksum))
        bytes.withUnsafeBytes { bytes in
            for offset in 0...bytes.count - 8 {
                let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                if checksums.contains(word) { places[word, default: []].append(offset) }
            }
        }
        let all = references.map {
            Run(
                page: Int($0.page),
                pageCount: Int($0.pageCount),
                checksum: $0.checksum,
                places: places[$0.checksum] ?? []
            )
        }
        var runOfPage: [Int: Int] = [:]
        for (index, run) in all.enumerated() {
            for page in run.page..<run.page + run.pageCount { runOfPage[page] = index }
        }
        var children: [[Int]] = Array(repeating: [], count: all.count)
        for (index, run) in all.enumerated() {
            for place in run.places {
                if let parent = runOfPage[place / pageByteCount], parent != index { children[parent].append(index) }
            }
        }
        var ordered: [Run] = []
        var isVisited = Array(repeating: false, count: all.count)
        func visit(_ index: Int) {
            if isVisited[index] { return }
            isVisited[index] = true
            for child in children[index] { visit(child) }
            ordered.append(all[index])
        }
        for index in all.indices { visit(index) }
        runs = ordered
    }

    /// How many bytes of a script say what one edit is.
    static let editByteCount = 16
    private static let words: [UInt64] = [0, 1, .max, 0x7FFF_FFFF, 0xFFFF_FFFF, 1 << 63, 1 << 32]

    /// The bytes of the file after the edits of a script, with every checksum right again, and what was done.
    ///
    /// Any bytes are a script: sixteen for each edit, of at most eight. What of the last edit is missing is zero.
    func edited(by script: [UInt8]) -> (bytes: [UInt8], edits: [String]) {
        var bytes = original
        var edits: [String] = []
        for start in stride(from: 0, to: min(script.count, 8 * Self.editByteCount), by: Self.editByteCount) {
            var step = Array(script[start..<min(script.count, start + Self.editByteCount)])
            step += Array(repeating: 0, count: Self.editByteCount - step.count)
            edits.append(edit(&bytes, step))
        }
        seal(&bytes)
        return (bytes, edits)
    }

    /// Makes one edit: its kind, a run, a place in the run, and what to put there.
    private func edit(_ bytes: inout [UInt8], _ step: [UInt8]) -> String {
        func number(_ offset: Int, _ byteCount: Int) -> Int {
            (0..<byteCount).reduce(0) { $0 | Int(step[offset + $1]) << (8 * $1) }
        }
        // The header's pages, or a run that somebody refers to; half of the time where a run says what is in it.
        let isHeader = step[0] >= 248
        let run = runs[number(1, 2) % runs.count]
        let base = isHeader ? number(1, 2) % FileHeader.slotPageCount * pageByteCount : run.page * pageByteCount
        let count = isHeader ? pageByteCount : run.pageCount * pageByteCount
        let limit = step[7] & 1 == 1 ? min(count, isHeader ? 1_200 : 400) : count
        let first = isHeader ? 40 : 8
        let place = base + first + number(3, 4) % (limit - 16 - first)
        switch step[0] % 5 {
        case 0: bytes[place] = step[8]
        case 1: bytes[place] = step[8] % 4
        case 2:
            let isPlain = step[7] & 2 == 0
            let word = isPlain ? UInt64(bitPattern: Int64(number(8, 8))) : Self.words[Int(step[8]) % Self.words.count]
            for index in 0..<(1 << Int(step[7] >> 2 & 3)) {
                bytes[place + index] = UInt8(truncatingIfNeeded: word >> UInt64(8 * index))
            }
        case 3:
            // The reference to another run.
            let other = runs[number(8, 2) % runs.count]
            let own = isHeader ? [place + 8] : run.places
            if let from = Self.element(other.places, number(10, 2)), let to = Self.element(own, number(12, 2)),
                from >= 8, to >= 8
            {
                for index in 0..<16 { bytes[to - 8 + index] = bytes[from - 8 + index] }
            }
        default:
            let from = number(8, 4) % (original.count - 64)
            for index in 0..<min(1 + number(12, 1) % 64, base + count - place) {
                bytes[place + index] = bytes[from + index]
            }
        }
        return "\(place / pageByteCount)+\(place % pageByteCount)"
    }

    private static func element(_ places: [Int], _ number: Int) -> Int? {
        places.isEmpty ? nil : places[number % places.count]
    }

    /// Makes every checksum right again.
    func seal(_ bytes: inout [UInt8]) {
        let original = original
        bytes.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            for run in runs {
                let base = start + run.page * pageByteCount
                let checksum = PageChecksum.of(base, byteCount: run.pageCount * pageByteCount)
                for place in run.places {
                    // A reference that was edited to lead elsewhere stays as it is.
                    let leadsHere =
                        place < 8 || (place - 8..<place - 4).allSatisfy { bytes[$0] == original[$0] }
                    if leadsHere { (start + place).storeBytes(of: checksum, as: UInt64.self) }
                }
            }
            for page in 0..<min(FileHeader.slotPageCount, bytes.count / pageByteCount) {
                let header = start + page * pageByteCount
                let checksum = XXH64.hash(header, count: FileHeader.checksumOffset)
                header.storeBytes(of: checksum, toByteOffset: FileHeader.checksumOffset, as: UInt64.self)
            }
        }
    }
}
