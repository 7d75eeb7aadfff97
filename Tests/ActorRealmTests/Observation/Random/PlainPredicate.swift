import Foundation
import RealmModel
import RealmTestSupport

@testable import ActorRealm

/// A predicate in the string language, and what it means for plain rows.
struct PlainPredicate: Sendable {
    /// With a place holder for each argument.
    let format: String
    let arguments: [any Sendable]
    let holds: @Sendable (PlainWorld, PlainAddress) -> Bool

    /// The format and the bits of the arguments: Foundation's description of a date that is no number ends the process.
    var summary: String { "\(format) \(arguments.map { PlainProperty.plain($0) })" }

    private init(
        _ format: String,
        _ arguments: [any Sendable],
        _ holds: @escaping @Sendable (PlainWorld, PlainAddress) -> Bool
    ) {
        self.format = format
        self.arguments = arguments
        self.holds = holds
    }

    /// What a collection holds of which the predicate is true.
    func filter<Collection: RealmCollection>(_ collection: Collection) -> Results<Collection.Element> {
        switch arguments.count {
        case 0: collection.filter(format)
        case 1: collection.filter(format, arguments[0])
        case 2: collection.filter(format, arguments[0], arguments[1])
        case 3: collection.filter(format, arguments[0], arguments[1], arguments[2])
        default: collection.filter(format, arguments[0], arguments[1], arguments[2], arguments[3])
        }
    }

    /// A random predicate about a class.
    static func random(_ type: Int, _ world: PlainWorld, depth: Int, _ random: inout SplitMix64) -> PlainPredicate {
        if depth > 0 {
            let one = { (random: inout SplitMix64) in Self.random(type, world, depth: depth - 1, &random) }
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let (left, right) = (one(&random), one(&random))
                return PlainPredicate("(\(left.format)) AND (\(right.format))", left.arguments + right.arguments) {
                    left.holds($0, $1) && right.holds($0, $1)
                }
            case 1, 2:
                let (left, right) = (one(&random), one(&random))
                return PlainPredicate("(\(left.format)) OR (\(right.format))", left.arguments + right.arguments) {
                    left.holds($0, $1) || right.holds($0, $1)
                }
            case 3:
                let part = one(&random)
                return PlainPredicate("NOT (\(part.format))", part.arguments) { !part.holds($0, $1) }
            default: break
            }
        }
        return leaf(type, world, &random)
    }

    private static func leaf(_ type: Int, _ world: PlainWorld, _ random: inout SplitMix64) -> PlainPredicate {
        let schema = world.classes[type]
        let scalar = schema.scalars.randomElement(using: &random)!
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            guard let link = schema.links.randomElement(using: &random) else { break }
            let isNull = Bool.random(using: &random)
            return PlainPredicate("\(link.name) \(isNull ? "==" : "!=") nil", []) {
                ($0.value(link.name, $1) == .null) == isNull
            }
        case 1, 2:
            guard let link = schema.links.randomElement(using: &random) else { break }
            let further = world.classes[link.target!].scalars.randomElement(using: &random)!
            let (text, arguments, test) = comparison(further, world, &random)
            return PlainPredicate("\(link.name).\(further.name) \(text)", arguments) {
                test($0.value("\(link.name).\(further.name)", $1))
            }
        case 3:
            guard let list = schema.sequences.randomElement(using: &random) else { break }
            let count = Int.random(in: 0...3, using: &random)
            return PlainPredicate("\(list.name).@count > \(count)", []) { $0.row($1)!.lists[list.name]!.count > count }
        case 4, 5:
            guard let list = schema.sequences.randomElement(using: &random) else { break }
            guard let target = list.target else {
                let (text, arguments, test) = comparison(list, world, &random)
                return PlainPredicate("ANY \(list.name) \(text)", arguments) {
                    $0.row($1)!.lists[list.name]!.contains(where: test)
                }
            }
            let further = world.classes[target].scalars.randomElement(using: &random)!
            let (text, arguments, test) = comparison(further, world, &random)
            let isAny = Bool.random(using: &random)
            return PlainPredicate("\(isAny ? "ANY" : "NONE") \(list.name).\(further.name) \(text)", arguments) {
                world,
                address in
                isAny == world.targets(address, list.name).contains { test(world.value(further.name, $0)) }
            }
        default: break
        }
        let (text, arguments, test) = comparison(scalar, world, &random)
        return PlainPredicate("\(scalar.name) \(text)", arguments) { test($0.value(scalar.name, $1)) }
    }

    private typealias Test = @Sendable (PlainValue) -> Bool

    /// A comparison of a property with a constant: the words behind its name, and what they mean.
    private static func comparison(
        _ property: PlainProperty,
        _ world: PlainWorld,
        _ random: inout SplitMix64
    ) -> (String, [any Sendable], Test) {
        var constant = property
        constant.isOptional = false
        if property.isOptional, Int.random(in: 0..<5, using: &random) == 0 { return ("== nil", [], { $0 == .null }) }
        let kind = property.valueKind
        if [.int, .double].contains(kind), Int.random(in: 0..<4, using: &random) == 0 {
            constant = PlainProperty(name: "", kind: kind == .int ? .double : .int)
        }
        let value = world.randomValue(constant, &random).specimen
        if kind == .text, case .text(let text) = value, Int.random(in: 0..<3, using: &random) > 0 {
            let (word, test) = textual(text).randomElement(using: &random)!
            return ("\(word) %@", [text], { if case .text(let own) = $0.specimen { test(own) } else { false } })
        }
        let words = kind == .flag ? ["==", "!="] : ["==", "==", "!=", "<", "<=", ">", ">="]
        let word = words.randomElement(using: &random)!
        let wanted = value.asConstant(for: kind)
        return ("\(word) %@", [value.stored!], { SpecimenValue.holds($0.specimen, word, wanted) })
    }

    /// What is asked of the bytes of a text, or of those of its lower case.
    private static func textual(_ text: String) -> [(String, @Sendable (String) -> Bool)] {
        let wanted = Array(text.utf8)
        let folded = Array(text.lowercased().utf8)
        @Sendable func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
            part.isEmpty
                || bytes.count >= part.count
                    && (0...(bytes.count - part.count)).contains { bytes[$0...].starts(with: part) }
        }
        return [
            ("BEGINSWITH", { $0.utf8.starts(with: wanted) }),
            ("ENDSWITH", { $0.utf8.reversed().starts(with: wanted.reversed()) }),
            ("CONTAINS", { contains(Array($0.utf8), wanted) }),
            ("==[c]", { $0.lowercased().utf8.elementsEqual(folded) }),
            ("CONTAINS[c]", { contains(Array($0.lowercased().utf8), folded) }),
        ]
    }
}

extension PlainProperty {
    var valueKind: SpecimenKind {
        switch kind {
        case .bool: .flag
        case .string: .text
        case .date: .date
        case .float: .float
        case .double: .double
        case .decimal128: .decimal
        case .any: .any
        default: .int
        }
    }

    /// What the public API gives for a value that is not a link.
    static func plain(_ value: Any?) -> PlainValue {
        guard let specimen = specimen(value), !specimen.isNull else { return .null }
        return .value(specimen)
    }

    private static func specimen(_ value: Any?) -> SpecimenValue? {
        switch ValueReader.unwrap(value) {
        case let value as AnyRealmValue: SpecimenValue(value)
        case let value as Bool: .flag(value)
        case let value as Int: .int(value)
        case let value as Double: .double(value)
        case let value as Float: .float(value)
        case let value as Date: .date(value.timeIntervalSinceReferenceDate)
        case let value as Decimal128: .decimal("\(value)")
        case let value as String: .text(value)
        case let value as Data: .data(Array(value))
        case let value as UUID: .uuid(value)
        case let value as ObjectId: .oid(value.stringValue)
        default: nil
        }
    }
}
