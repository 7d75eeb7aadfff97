import ActorRealm
import Foundation
import RealmTestSupport

/// A random condition: as the text of a predicate with its arguments, and in plain Swift.
struct SpecimenCondition {
    var text: String
    var arguments: [Any] = []
    var holds: (SpecimenWorld, PlainSpecimen) -> Bool

    private static let orders = ["==", "!=", "<", "<=", ">", ">="]

    static func random(_ random: inout SplitMix64, depth: Int) -> SpecimenCondition {
        if depth > 0, Int.random(in: 0..<3, using: &random) > 0 {
            if Int.random(in: 0..<4, using: &random) == 0 {
                let part = self.random(&random, depth: depth - 1)
                return SpecimenCondition(text: "NOT (\(part.text))", arguments: part.arguments) { !part.holds($0, $1) }
            }
            let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in self.random(&random, depth: depth - 1) }
            let isOr = Bool.random(using: &random)
            return SpecimenCondition(
                text: parts.map { "(\($0.text))" }.joined(separator: isOr ? " OR " : " AND "),
                arguments: parts.flatMap(\.arguments)
            ) { world, row in
                isOr ? parts.contains { $0.holds(world, row) } : parts.allSatisfy { $0.holds(world, row) }
            }
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return collection(&random)
        case 1: return linked(&random)
        case 2: return key(&random)
        case 3: return aggregate(&random)
        case 4: return entry(&random)
        case 5: return pair(&random)
        default:
            let property = SpecimenKind.properties.randomElement(using: &random)!
            let name = property.isIndexed && Bool.random(using: &random) ? "x" + property.name : property.name
            return comparison(name, property.kind, &random) { _, row in [row.values[property.name]!] }
        }
    }

    /// A comparison of values with a constant; it holds when it does for one of them.
    private static func comparison(
        _ path: String,
        _ kind: SpecimenKind,
        prefix: String = "",
        quantifier: String = "ANY",
        _ random: inout SplitMix64,
        _ read: @escaping (SpecimenWorld, PlainSpecimen) -> [SpecimenValue]
    ) -> SpecimenCondition {
        func constant(isOptional: Bool = true) -> SpecimenValue {
            var kind = kind
            if [.int, .double, .decimal].contains(kind), Int.random(in: 0..<4, using: &random) == 0 {
                kind = (kind == .decimal ? [.int, .double, .decimal] : [.int, .double]).randomElement(using: &random)!
            }
            return .random(kind, isOptional: isOptional, &random)
        }
        func quantified(_ single: @escaping (SpecimenValue) -> Bool) -> (SpecimenWorld, PlainSpecimen) -> Bool {
            { world, row in
                let values = read(world, row)
                return switch quantifier {
                case "ALL": values.allSatisfy(single)
                case "NONE": !values.contains(where: single)
                default: values.contains(where: single)
                }
            }
        }
        func argument(_ value: SpecimenValue) -> (String, [Any]) { value.stored.map { ("%@", [$0]) } ?? ("NULL", []) }
        let hasOrder = kind != .flag
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            let list = (0..<Int.random(in: 0...4, using: &random)).map { _ in constant() }
            let parts = list.map(argument)
            let wanted = list.map { $0.asConstant(for: kind) }
            return SpecimenCondition(
                text: "\(prefix)\(path) IN {\(parts.map(\.0).joined(separator: ", "))}",
                arguments: parts.flatMap(\.1),
                holds: quantified { value in wanted.contains { SpecimenValue.holds(value, "==", $0) } }
            )
        case 1 where hasOrder && kind != .any:
            let (low, high) = (constant(isOptional: false), constant(isOptional: false))
            let bounds = (low.asConstant(for: kind), high.asConstant(for: kind))
            return SpecimenCondition(
                text: "\(prefix)\(path) BETWEEN {%@, %@}",
                arguments: [low.stored!, high.stored!],
                holds: quantified {
                    SpecimenValue.holds($0, ">=", bounds.0) && SpecimenValue.holds($0, "<=", bounds.1)
                }
            )
        case let number where number < 4 && kind == .text: return textual(prefix + path, &random, quantified)
        default:
            let operation = hasOrder ? orders.randomElement(using: &random)! : Bool.random(using: &random) ? "==" : "!="
            let value = constant()
            let (text, arguments) = argument(value)
            let wanted = value.asConstant(for: kind)
            return SpecimenCondition(
                text: "\(prefix)\(path) \(operation) \(text)",
                arguments: arguments,
                holds: quantified { SpecimenValue.holds($0, operation, wanted) }
            )
        }
    }

    /// An operator on texts, with options and without.
    private static func textual(
        _ path: String,
        _ random: inout SplitMix64,
        _ quantified: (@escaping (SpecimenValue) -> Bool) -> (SpecimenWorld, PlainSpecimen) -> Bool
    ) -> SpecimenCondition {
        let operation = ["BEGINSWITH", "ENDSWITH", "CONTAINS", "==", "!=", "LIKE"].randomElement(using: &random)!
        let isLike = operation == "LIKE"
        let options = (isLike ? ["", "[c]"] : ["", "[c]", "[d]", "[cd]"]).randomElement(using: &random)!
        let pattern =
            isLike
            ? ["*", "a*", "?", "??", "*b", "a?b", "*\u{E9}*", "x*"].randomElement(using: &random)!
            : SpecimenValue.texts.randomElement(using: &random)!
        func fold(_ text: String) -> [Unicode.Scalar] {
            var text = text
            if options.contains("d") {
                text = text.decomposedStringWithCanonicalMapping
                text.unicodeScalars.removeAll { (0x300...0x36F).contains($0.value) }
            }
            if options.contains("c") { text = text.lowercased() }
            return Array(text.unicodeScalars)
        }
        let wanted = fold(pattern)
        return SpecimenCondition(
            text: "\(path) \(operation)\(options) %@",
            arguments: [pattern],
            holds: quantified { value in
                guard case .text(let text) = value else { return operation == "!=" }
                let scalars = fold(text)
                switch operation {
                case "BEGINSWITH": return scalars.starts(with: wanted)
                case "ENDSWITH": return scalars.reversed().starts(with: wanted.reversed())
                case "CONTAINS":
                    return wanted.isEmpty
                        || scalars.count >= wanted.count
                            && (0...(scalars.count - wanted.count)).contains { scalars[$0...].starts(with: wanted) }
                case "LIKE": return like(scalars[...], wanted[...])
                case "==": return scalars == wanted
                default: return scalars != wanted
                }
            }
        )
    }

    private static func like(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let head = pattern.first else { return text.isEmpty }
        if head == "*" { return (0...text.count).contains { like(text.dropFirst($0), pattern.dropFirst()) } }
        guard let first = text.first, head == "?" || head == first else { return false }
        return like(text.dropFirst(), pattern.dropFirst())
    }

    private static func collection(_ random: inout SplitMix64) -> SpecimenCondition {
        let quantifier = ["ANY", "ALL", "NONE"].randomElement(using: &random)!
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            return comparison("ints", .int, prefix: quantifier + " ", quantifier: quantifier, &random) { $1.ints }
        case 1:
            return comparison("texts", .text, prefix: quantifier + " ", quantifier: quantifier, &random) { $1.texts }
        case 2:
            return comparison("counts.@allValues", .int, prefix: quantifier + " ", quantifier: quantifier, &random) {
                $1.counts.map(\.value)
            }
        default:
            let property = SpecimenKind.properties.randomElement(using: &random)!
            return comparison(
                "links." + property.name,
                property.kind,
                prefix: quantifier + " ",
                quantifier: quantifier,
                &random
            ) { world, row in row.links.map { world.rows[$0]!.values[property.name]! } }
        }
    }

    private static func linked(_ random: inout SplitMix64) -> SpecimenCondition {
        if Int.random(in: 0..<3, using: &random) == 0 {
            return comparison("label.key", .text, &random) { _, row in [row.label ?? .null] }
        }
        let property = SpecimenKind.properties.randomElement(using: &random)!
        return comparison("link." + property.name, property.kind, &random) { world, row in
            [row.link.map { world.rows[$0]!.values[property.name]! } ?? .null]
        }
    }

    private static func key(_ random: inout SplitMix64) -> SpecimenCondition {
        comparison("id", .int, &random) { _, row in [row.values["id"]!] }
    }

    private static func aggregate(_ random: inout SplitMix64) -> SpecimenCondition {
        let (path, read): (String, (PlainSpecimen) -> SpecimenValue) =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: ("ints.@count", { .int($0.ints.count) })
            case 1: ("ints.@min", { $0.ints.min { SpecimenValue.order($0, $1) < 0 } ?? .null })
            case 2: ("ints.@max", { $0.ints.max { SpecimenValue.order($0, $1) < 0 } ?? .null })
            case 3: ("links.@count", { .int($0.links.count) })
            default:
                (
                    "ints.@sum",
                    { row in
                        var sum = 0
                        for case .int(let value) in row.ints { sum &+= value }
                        return .int(sum)
                    }
                )
            }
        return comparison(path, .int, &random) { _, row in [read(row)] }
    }

    private static func entry(_ random: inout SplitMix64) -> SpecimenCondition {
        let name = SpecimenWorld.names.randomElement(using: &random)!
        return comparison("counts['\(name)']", .int, &random) { _, row in [row.count(named: name)] }
    }

    /// Two properties of one object.
    private static func pair(_ random: inout SplitMix64) -> SpecimenCondition {
        let numbers = SpecimenKind.properties.filter { [.int, .double, .float, .decimal].contains($0.kind) }
        let texts = SpecimenKind.properties.filter { $0.kind == .text }
        let some = Bool.random(using: &random) ? numbers : texts
        let (one, other) = (some.randomElement(using: &random)!, some.randomElement(using: &random)!)
        let operation = orders.randomElement(using: &random)!
        return SpecimenCondition(text: "\(one.name) \(operation) \(other.isIndexed ? "x" : "")\(other.name)") {
            _,
            row in
            SpecimenValue.holds(row.values[one.name]!, operation, row.values[other.name]!)
        }
    }
}
