extension DependencyRecord {
    /// The entries of a field such as `debconf (>= 0.5) | debconf-2.0, libc6 (>= 2.34), python3:any`.
    ///
    /// A foreign package's dependencies are looked for among packages of its own architecture, but where they say that any
    /// will do.
    static func parse(_ text: String, kind: DependencyKind, architecture: String) -> [DependencyRecord] {
        var records: [DependencyRecord] = []
        for entry in text.utf8.split(separator: UInt8(ascii: ",")) {
            for (position, choice) in entry.split(separator: UInt8(ascii: "|")).enumerated() {
                guard var record = DependencyRecord(choice, kind: kind, architecture: architecture) else { continue }
                record.alternative = position
                records.append(record)
            }
        }
        return records
    }

    private init?(_ text: Substring.UTF8View, kind: DependencyKind, architecture: String) {
        let nameEnd = text.firstIndex { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "[") } ?? text.endIndex
        let words = text[..<nameEnd].split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A }
        guard let qualified = words.first, let whole = String(qualified) else { return nil }
        let parts = whole.split(separator: ":", maxSplits: 1)
        guard let name = parts.first else { return nil }
        let wanted = parts.count == 2 ? String(parts[1]) : architecture
        target = wanted == "any" || Architecture.isNative(wanted) ? String(name) : "\(name):\(wanted)"
        self.kind = kind
        if let open = text.firstIndex(of: UInt8(ascii: "(")), let close = text.firstIndex(of: UInt8(ascii: ")")),
            open < close
        {
            constraint = String(text[text.index(after: open)..<close]) ?? ""
        }
    }
}
