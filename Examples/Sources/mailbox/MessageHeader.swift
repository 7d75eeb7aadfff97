import Foundation

/// The header fields of a mail, by their names in lower case.
struct MessageHeader {
    private var fields: [String: String] = [:]
    private var last: String?

    subscript(name: String) -> String? { fields[name] }

    /// Takes a line: a field, or the continuation of the one before.
    mutating func take(_ line: String) {
        if line.hasPrefix(" ") || line.hasPrefix("\t") {
            if let last { fields[last, default: ""] += " " + line.trimmingCharacters(in: .whitespaces) }
        } else if let colon = line.firstIndex(of: ":") {
            let name = line[..<colon].lowercased()
            fields[name] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            last = name
        }
    }

    /// A date such as "Sat, 21 Nov 2026 09:51:00 +0000".
    static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        for format in ["EEE, d MMM yyyy HH:mm:ss Z", "d MMM yyyy HH:mm:ss Z"] {
            formatter.dateFormat = format
            let bare = text.split(separator: "(").first.map { $0.trimmingCharacters(in: .whitespaces) } ?? text
            if let date = formatter.date(from: bare) { return date }
        }
        return nil
    }
}
