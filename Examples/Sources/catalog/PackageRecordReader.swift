import ExampleSupport

/// Reads package descriptions, one at a time, from a list in the format of `/var/lib/dpkg/status` and of an archive's
/// `Packages` files: paragraphs of `Field: value` lines, continued by lines that begin with a space.
final class PackageRecordReader {
    /// How much of a description is wanted.
    enum Detail {
        /// Name, architecture and version, for a first look through the lists.
        case identity
        case everything
    }

    private let lines: LineReader
    private let detail: Detail
    private var record = PackageRecord()
    private var isInstalled = true
    /// A list that is wanted and may go on in the next line.
    private var openList: (kind: DependencyKind, text: String)?

    init(_ source: PackageSource, detail: Detail) throws {
        lines = LineReader(try source.open())
        self.detail = detail
    }

    /// The next package, or nil at the end of the list.
    ///
    /// Packages that a machine knows, but has not installed, are passed over.
    func next() throws -> PackageRecord? {
        var isParagraph = false
        while true {
            let isBlank = try lines.withNextLine { line in
                if line.isEmpty { return true }
                take(line)
                return false
            }
            switch isBlank {
            case false?:
                isParagraph = true
            case true?, nil:
                if isParagraph, let finished = finish() { return finished }
                isParagraph = false
                if isBlank == nil { return nil }
            }
        }
    }

    private func finish() -> PackageRecord? {
        closeList()
        defer {
            record = PackageRecord()
            isInstalled = true
        }
        return isInstalled && !record.name.isEmpty ? record : nil
    }

    private func take(_ line: UnsafeBufferPointer<UInt8>) {
        if line[0] == UInt8(ascii: " ") || line[0] == UInt8(ascii: "\t") {
            openList?.text += String(decoding: line, as: UTF8.self)
            return
        }
        closeList()
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let field = UnsafeBufferPointer(rebasing: line[..<colon])
        let value = UnsafeBufferPointer(rebasing: line[(colon + 1)...])
        switch detail {
        case .identity: takeIdentity(field, value)
        case .everything: if !takeIdentity(field, value) { takeDescription(field, value) }
        }
    }

    @discardableResult
    private func takeIdentity(_ field: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
        if field.equals("Package") {
            record.name = value.trimmedText
        } else if field.equals("Version") {
            record.version = value.trimmedText
        } else if field.equals("Architecture") {
            record.architecture = value.trimmedText
        } else if field.equals("Status") {
            isInstalled = value.trimmedText.hasSuffix(" installed")
        } else {
            return false
        }
        return true
    }

    private func takeDescription(_ field: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        if field.equals("Section") {
            record.section = value.trimmedText
        } else if field.equals("Priority") {
            record.priority = value.trimmedText
        } else if field.equals("Installed-Size") {
            record.installedSize = Int(value.trimmedText) ?? 0
        } else if field.equals("Description") {
            record.summary = value.trimmedText
        } else if field.equals("Maintainer") {
            record.maintainer = value.trimmedText
        } else if field.equals("Homepage") {
            record.homepage = value.trimmedText
        } else if let kind = DependencyKind.allCases.first(where: { field.equals($0.staticField) }) {
            openList = (kind, String(decoding: value, as: UTF8.self))
        }
    }

    private func closeList() {
        guard let (kind, text) = openList else { return }
        openList = nil
        record.dependencies += DependencyRecord.parse(text, kind: kind, architecture: record.architecture)
    }
}

extension DependencyKind {
    fileprivate var staticField: StaticString {
        switch self {
        case .depends: "Depends"
        case .preDepends: "Pre-Depends"
        case .recommends: "Recommends"
        case .suggests: "Suggests"
        case .provides: "Provides"
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func equals(_ text: StaticString) -> Bool {
        elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    fileprivate var trimmedText: String {
        var bytes = self[...]
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes = bytes.dropFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 || last == 0x0D { bytes = bytes.dropLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
