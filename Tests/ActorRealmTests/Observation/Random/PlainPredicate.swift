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
        let value = world.randomValue(constant, &random)
        if property.isOptional, Int.random(in: 0..<5, using: &random) == 0 { return ("== nil", [], { $0 == .null }) }
        switch value {
        case .bool(let flag): return ("== \(flag)", [], { $0 == value })
        case .text(let text):
            let words: [(String, @Sendable (String) -> Bool)] = [
                ("==", { $0 == text }), ("BEGINSWITH", { $0.hasPrefix(text) || text.isEmpty }),
                ("ENDSWITH", { $0.hasSuffix(text) || text.isEmpty }),
                ("CONTAINS", { $0.contains(text) || text.isEmpty }),
                ("==[c]", { $0.lowercased() == text.lowercased() }),
                ("CONTAINS[c]", { $0.lowercased().contains(text.lowercased()) || text.isEmpty }),
            ]
            if Int.random(in: 0..<7, using: &random) == 0 { return ("!= '\(text)'", [], { $0 != value }) }
            let (word, test) = words.randomElement(using: &random)!
            return ("\(word) '\(text)'", [], { if case .text(let own) = $0 { test(own) } else { false } })
        case .number(let number):
            let argument = property.external(value)
            let words: [(String, @Sendable (Double) -> Bool)] = [
                ("==", { $0 == number }), ("<", { $0 < number }), ("<=", { $0 <= number }), (">", { $0 > number }),
                (">=", { $0 >= number }),
            ]
            if Int.random(in: 0..<6, using: &random) == 0 { return ("!= %@", [argument], { $0 != value }) }
            let (word, test) = words.randomElement(using: &random)!
            return ("\(word) %@", [argument], { if case .number(let own) = $0 { test(own) } else { false } })
        case .null, .link: return ("== nil", [], { $0 == .null })
        }
    }
}

extension PlainProperty {
    /// A value that is not a link, as the public API takes it.
    func external(_ value: PlainValue) -> any Sendable {
        switch value {
        case .null, .link: return Int?.none
        case .bool(let value): return value
        case .text(let value): return value
        case .number(let value):
            switch kind {
            case .int: return Int(value)
            case .float: return Float(value)
            case .date: return Date(timeIntervalSince1970: value)
            case .decimal128: return Decimal128(value)
            default: return value
            }
        }
    }

    /// What the public API gives for a value that is not a link.
    static func plain(_ value: Any?) -> PlainValue {
        switch value {
        case let value as Bool: .bool(value)
        case let value as Int: .number(Double(value))
        case let value as Double: .number(value)
        case let value as Float: .number(Double(value))
        case let value as Date: .number(value.timeIntervalSince1970)
        case let value as Decimal128: .number(Double("\(value)")!)
        case let value as String: .text(value)
        default: .null
        }
    }
}
