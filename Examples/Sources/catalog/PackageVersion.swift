/// A Debian version number, ordered as `dpkg --compare-versions` orders them:
/// `[epoch:]upstream[-revision]`, digits as numbers, letters before other signs, and `~` before everything, even the end.
struct PackageVersion: Comparable {
    private let epoch: Int
    private let upstream: Substring.UTF8View
    private let revision: Substring.UTF8View

    init(_ text: String) {
        var rest = Substring(text)
        if let colon = rest.firstIndex(of: ":") {
            epoch = Int(rest[..<colon]) ?? 0
            rest = rest[rest.index(after: colon)...]
        } else {
            epoch = 0
        }
        if let hyphen = rest.lastIndex(of: "-") {
            upstream = rest[..<hyphen].utf8
            revision = rest[rest.index(after: hyphen)...].utf8
        } else {
            upstream = rest.utf8
            revision = Substring().utf8
        }
    }

    static func < (left: PackageVersion, right: PackageVersion) -> Bool {
        left.order(against: right) < 0
    }

    static func == (left: PackageVersion, right: PackageVersion) -> Bool {
        left.order(against: right) == 0
    }

    private func order(against other: PackageVersion) -> Int {
        if epoch != other.epoch { return epoch < other.epoch ? -1 : 1 }
        let byUpstream = Self.order(upstream, other.upstream)
        return byUpstream != 0 ? byUpstream : Self.order(revision, other.revision)
    }

    private static func order(_ left: Substring.UTF8View, _ right: Substring.UTF8View) -> Int {
        var left = left[...]
        var right = right[...]
        while !left.isEmpty || !right.isEmpty {
            while left.first.map(isDigit) == false || right.first.map(isDigit) == false {
                let difference = weight(left.first) - weight(right.first)
                if difference != 0 { return difference }
                left = left.dropFirst()
                right = right.dropFirst()
            }
            let leftNumber = takeNumber(&left)
            let rightNumber = takeNumber(&right)
            if leftNumber.count != rightNumber.count { return leftNumber.count - rightNumber.count }
            for (leftDigit, rightDigit) in zip(leftNumber, rightNumber) where leftDigit != rightDigit {
                return Int(leftDigit) - Int(rightDigit)
            }
        }
        return 0
    }

    /// Takes the digits at the beginning, without leading zeros.
    private static func takeNumber(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: isDigit)
        text = text[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private static func weight(_ byte: UInt8?) -> Int {
        switch byte {
        case nil: 0
        case UInt8(ascii: "~")?: -1
        case let digit? where isDigit(digit): 0
        case let letter? where letter | 0x20 >= UInt8(ascii: "a") && letter | 0x20 <= UInt8(ascii: "z"): Int(letter)
        case let sign?: Int(sign) + 256
        }
    }
}
