import SwiftOperators
import SwiftSyntax

/// Finds the places of a file where a change of meaning can stand.
final class MutationFinder: SyntaxVisitor {
    private static let operators = [
        "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
        "+": "-", "-": "+", "&+": "&-", "&-": "&+", "&": "|", "|": "&", "<<": ">>", ">>": "<<",
    ]
    /// Calls that only a programmer's error reaches, whose arguments change nothing else.
    private static let checks: Set<String> = [
        "precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError", "misuse",
    ]

    /// Calls that change how long something takes, or what a debug build checks, and nothing else.
    private static let hints: Set<String> = ["reserveCapacity", "withExtendedLifetime", "assert", "assertionFailure"]

    private let file: String
    private let converter: SourceLocationConverter
    private(set) var found: [Mutation] = []

    init(file: String, converter: SourceLocationConverter) {
        self.file = file
        self.converter = converter
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if let name = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text, let other = Self.operators[name] {
            let (left, right) = (node.leftOperand.trimmedDescription, node.rightOperand.trimmedDescription)
            // Optional chains and casts would bind otherwise in parentheses of their own; they are left alone.
            if !left.hasPrefix("try ") && !left.hasPrefix("await ") {
                add(node, "operator", "(\(left) \(name) \(right))", "(\(left) \(other) \(right))")
            }
        }
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.text == "!" {
            add(node, "negation", node.trimmedDescription, "(\(node.expression.trimmedDescription))")
        }
        return .visitChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        if node.parent?.is(ReturnStmtSyntax.self) == true {
            let value = node.literal.text
            add(node, "literal", value, value == "true" ? "false" : "true")
        }
        return .visitChildren
    }

    override func visit(_ node: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
        // The only statement of a block may be its value.
        guard node.count > 1 else { return .visitChildren }
        for item in node {
            guard case .expr(let expression) = item.item else { continue }
            var inner = expression
            if let attempt = inner.as(TryExprSyntax.self) { inner = attempt.expression }
            if let wait = inner.as(AwaitExprSyntax.self) { inner = wait.expression }
            let isCall = inner.as(FunctionCallExprSyntax.self).map { !isHint($0) && !isInitializing($0) } == true
            let isAssignment = inner.as(InfixOperatorExprSyntax.self)
                .map { operation in
                    operation.operator.is(AssignmentExprSyntax.self)
                        || operation.operator.as(BinaryOperatorExprSyntax.self)
                            .map {
                                ["+=", "-=", "|=", "&=", "&+=", "&-="].contains($0.operator.text)
                            } == true
                }
            // What an initializer does not assign does not compile, as a rule.
            if isCall || isAssignment == true && !isInInitializer(node) {
                add(expression, "statement", expression.trimmedDescription, "")
            }
        }
        return .visitChildren
    }

    // MARK: What is left alone

    private func isInInitializer(_ node: some SyntaxProtocol) -> Bool {
        var parent = node.parent
        while let current = parent, !current.is(FunctionDeclSyntax.self), !current.is(ClosureExprSyntax.self) {
            if current.is(InitializerDeclSyntax.self) { return true }
            parent = current.parent
        }
        return false
    }

    private func isInitializing(_ call: FunctionCallExprSyntax) -> Bool {
        call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "init"
    }

    private func isHint(_ call: FunctionCallExprSyntax) -> Bool {
        let name = call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
        return Self.hints.contains(name ?? call.calledExpression.trimmedDescription)
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        Self.checks.contains(node.calledExpression.trimmedDescription) ? .skipChildren : .visitChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind { kind(node.attributes) }
    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind { kind(node.attributes) }
    override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind { kind(node.attributes) }
    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind { kind(node.attributes) }
    override func visit(_ node: AccessorDeclSyntax) -> SyntaxVisitorContinueKind { kind(node.attributes) }
    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: GenericWhereClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    /// What is compiled into other modules can not ask the switch, and what is not available is not run.
    private func kind(_ attributes: AttributeListSyntax) -> SyntaxVisitorContinueKind {
        let text = attributes.trimmedDescription
        let isLeftOut =
            text.contains("@inlinable") || text.contains("@_transparent") || text.contains("unavailable")
            || text.contains("@_alwaysEmitIntoClient")
        return isLeftOut ? .skipChildren : .visitChildren
    }

    private func add(_ node: some SyntaxProtocol, _ kind: String, _ before: String, _ after: String) {
        let start = node.positionAfterSkippingLeadingTrivia
        found.append(
            Mutation(
                file: file,
                line: converter.location(for: start).line,
                kind: kind,
                before: before,
                after: after,
                start: start.utf8Offset,
                end: node.endPositionBeforeTrailingTrivia.utf8Offset
            )
        )
    }
}
