import RealmModel
import RealmTestSupport
import Testing

/// Which indexes and rules of a file an opening keeps that does not declare them.
@Suite("Kept rules") struct KeptRulesTests {
    private static func schema(
        named name: String = "Person",
        formerNames: [String] = [],
        _ change: (inout [PropertySchema], inout [CompoundIndexSchema]) -> Void = { _, _ in }
    ) -> DatabaseSchema {
        var properties = [
            PropertySchema(name: "id", kind: .int, isPrimaryKey: true), PropertySchema(name: "name", kind: .string),
            PropertySchema(name: "age", kind: .int), PropertySchema(name: "friend", kind: .object, targetClass: name),
        ]
        var indexes: [CompoundIndexSchema] = []
        change(&properties, &indexes)
        return DatabaseSchema(classes: [
            ClassSchema(name: name, properties: properties, compoundIndexes: indexes, formerNames: formerNames)
        ])
    }

    /// A rule, as a program declares it.
    struct Rule: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var change: @Sendable (inout [PropertySchema], inout [CompoundIndexSchema]) -> Void
    }

    static let rules = [
        Rule(testDescription: "an index") { properties, _ in properties[1].isIndexed = true },
        Rule(testDescription: "a unique rule") { properties, _ in
            properties[1].isIndexed = true
            properties[1].isUnique = true
        },
        Rule(testDescription: "a delete rule") { properties, _ in properties[3].deleteRule = .deny },
        Rule(testDescription: "an index over two properties") { $1.append(CompoundIndexSchema(["name", "age"])) },
        Rule(testDescription: "a unique rule over two properties") {
            $1.append(CompoundIndexSchema(["age", "name"], isUnique: true))
        },
    ]

    /// What is left of a rule when another one is declared elsewhere; nil for nothing.
    private static func left(of rule: Rule, by other: Rule) -> Rule? {
        switch (rule.testDescription, other.testDescription) {
        case (other.testDescription, _): rule
        // Who declares a unique rule declares its index.
        case ("an index", "a unique rule"): rule
        case ("a unique rule", "an index"): other
        default: nil
        }
    }

    @Test("A rule stays where somebody declares it, and goes where the others declare something else", arguments: rules)
    func declared(_ rule: Rule) {
        let (plain, stored) = (Self.schema(), Self.schema(rule.change))
        for other in Self.rules {
            let declared = Self.schema(other.change).ruleNumbers
            let expected = Self.left(of: rule, by: other).map { Self.schema($0.change) } ?? plain
            let kept = plain.keepingRules(of: stored, where: declared.contains)
            #expect(kept == expected, "beside \(other.testDescription)")
        }
        #expect(plain.keepingRules(of: stored) { _ in true } == stored)
        #expect(plain.keepingRules(of: stored) { _ in false } == plain)
        #expect(plain.keepingRules(of: nil) { _ in true } == plain)
        #expect(stored.keepingRules(of: plain) { _ in true } == stored)
        #expect(Self.schema(named: "Other", rule.change).ruleNumbers.isDisjoint(with: stored.ruleNumbers))
    }

    @Test("Another delete rule, and one of a property that gets another type, is none that is declared")
    func others() {
        let stored = Self.schema { properties, _ in properties[3].deleteRule = .deny }
        let cascading = Self.schema { properties, _ in properties[3].deleteRule = .cascade }
        #expect(cascading.keepingRules(of: stored, where: cascading.ruleNumbers.contains) == cascading)
        #expect(cascading.keepingRules(of: stored, where: stored.ruleNumbers.contains) == stored)
        let indexed = Self.schema { properties, _ in properties[2].isIndexed = true }
        let retyped = Self.schema { properties, _ in properties[2].kind = .string }
        #expect(retyped.keepingRules(of: indexed, where: indexed.ruleNumbers.contains) == retyped)
    }

    @Test("A rule is the same one under the names that a class had before", arguments: rules)
    func formerNames(_ rule: Rule) throws {
        let (older, olderRuled) = (Self.schema(), Self.schema(rule.change))
        let newer = Self.schema(named: "Team_Person", formerNames: ["Person"])
        let newerRuled = Self.schema(named: "Team_Person", formerNames: ["Person"], rule.change)
        // The file was made by the older release, and has a column for each property.
        let stored = try olderRuled.called(asIn: newer)
        #expect(stored["Team_Person"]?.storedName == "Person")
        func ruled(_ schema: DatabaseSchema) -> [Bool] {
            schema.list.flatMap { schema in
                schema.properties.flatMap { [$0.isIndexed, $0.isUnique, $0.deleteRule == .deny] }
                    + schema.compoundIndexes.map(\.isUnique)
            }
        }
        for declared in [olderRuled, newerRuled] {
            let numbers = declared.ruleNumbers
            #expect(ruled(newer.keepingRules(of: stored, where: numbers.contains)) == ruled(newerRuled))
            #expect(ruled(older.keepingRules(of: olderRuled, where: numbers.contains)) == ruled(olderRuled))
        }
    }

    @Test("Of two delete rules that are declared, the one stays that deletes less")
    func stricterDeleteRule() {
        func schema(_ rule: DeleteRule) -> DatabaseSchema {
            Self.schema { properties, _ in properties[3].deleteRule = rule }
        }
        for (stored, opened, expected) in [
            (.cascade, .deny, .deny), (.deny, .cascade, .deny), (.cascade, .nullify, .cascade),
            (.nullify, .cascade, .cascade),
            (.deny, .nullify, .deny), (.nullify, .deny, .deny),
        ] as [(DeleteRule, DeleteRule, DeleteRule)] {
            let declared = schema(stored).ruleNumbers
            let kept = schema(opened).keepingRules(of: schema(stored), where: declared.contains)
            #expect(kept == schema(expected), "\(stored) in the file, \(opened) in the opening")
        }
    }

    @Test("A delete rule comes back when nobody declares the one any more that stood in its place")
    func deleteRuleComesBack() {
        func schema(_ rule: DeleteRule) -> DatabaseSchema {
            Self.schema { properties, _ in properties[3].deleteRule = rule }
        }
        let cascading = schema(.cascade).ruleNumbers
        let kept = schema(.nullify).keepingRules(of: schema(.deny), where: cascading.contains)
        #expect(kept == schema(.cascade))
        #expect(schema(.nullify).keepingRules(of: schema(.deny)) { _ in false } == schema(.nullify))
    }

    @Test("A link to a class that becomes embedded keeps no delete rule", arguments: [DeleteRule.cascade, .deny])
    func embeddedTargets(_ rule: DeleteRule) {
        func schema(isEmbedded: Bool, _ rule: DeleteRule = .nullify) -> DatabaseSchema {
            let link = PropertySchema(name: "part", kind: .object, deleteRule: rule, targetClass: "Part")
            return DatabaseSchema(classes: [
                ClassSchema(
                    name: "Part",
                    properties: [PropertySchema(name: "name", kind: .string)],
                    isEmbedded: isEmbedded
                ), ClassSchema(name: "Item", properties: [link]),
            ])
        }
        let (stored, declared) = (schema(isEmbedded: false, rule), schema(isEmbedded: true))
        #expect(declared.keepingRules(of: stored) { _ in true } == declared)
        #expect(schema(isEmbedded: false).keepingRules(of: stored) { _ in true } == stored)
    }
}
