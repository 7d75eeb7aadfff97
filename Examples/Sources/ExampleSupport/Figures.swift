import Foundation

/// Figures as people read them.
package enum Figures {
    /// 1234567 as "1,234,567".
    package static func grouped(_ number: Int) -> String {
        var digits = String(number.magnitude)
        var end = digits.endIndex
        while let next = digits.index(end, offsetBy: -3, limitedBy: digits.startIndex), next > digits.startIndex {
            digits.insert(",", at: next)
            end = next
        }
        return (number < 0 ? "-" : "") + digits
    }

    /// "1 package", "2 packages".
    package static func count(_ number: Int, _ singular: String, _ plural: String? = nil) -> String {
        grouped(number) + " " + (number == 1 ? singular : plural ?? singular + "s")
    }

    /// A number of bytes in MiB with one decimal.
    package static func mebibytes(_ byteCount: Int) -> String {
        decimal(Double(byteCount) / 1_048_576, places: 1) + " MiB"
    }

    /// A duration in seconds with two decimals.
    package static func seconds(_ duration: Duration) -> String {
        decimal(duration / .seconds(1), places: 2) + " s"
    }

    /// A duration in milliseconds with two decimals.
    package static func milliseconds(_ duration: Duration) -> String {
        decimal(duration / .milliseconds(1), places: 2) + " ms"
    }

    /// A number with a fixed count of decimals.
    package static func decimal(_ number: Double, places: Int) -> String {
        String(format: "%.\(places)f", number)
    }

    /// Text cut or filled to a width, for columns.
    package static func padded(_ text: String, to width: Int) -> String {
        let shown = text.count > width ? text.prefix(width - 1) + "\u{2026}" : text[...]
        return shown + String(repeating: " ", count: max(0, width - shown.count))
    }
}
