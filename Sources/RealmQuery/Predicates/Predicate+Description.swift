extension Predicate: CustomStringConvertible {
    /// The predicate in the string language; constants that have no literal there are shown in angle brackets.
    package var description: String {
        var text = ""
        write(to: &text, variable: nil, depth: 0, isPart: false)
        return text
    }

    private func write(to text: inout String, variable: String?, depth: Int, isPart: Bool) {
        guard depth <= 2 * PredicateLimits.depth else {
            text += "…"
            return
        }
        switch self {
        case .constant(let value):
            text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and(let parts), .or(let parts):
            let isConjunction = if case .and = self { true } else { false }
            guard !parts.isEmpty else {
                text += isConjunction ? "TRUEPREDICATE" : "FALSEPREDICATE"
                return
            }
            if isPart { text += "(" }
            for (index, part) in parts.enumerated() {
                if index > 0 { text += isConjunction ? " AND " : " OR " }
                part.write(to: &text, variable: variable, depth: depth + 1, isPart: parts.count > 1)
            }
            if isPart { text += ")" }
        case .not(let part):
            text += "NOT "
            part.write(to: &text, variable: variable, depth: depth + 1, isPart: true)
        case .comparison(let comparison):
            if let quantifier = comparison.quantifier { text += quantifier.spelling + " " }
            comparison.left.write(to: &text, variable: variable, depth: depth)
            if comparison.operation == .within, case .value(.list(let bounds)) = comparison.right, bounds.count == 2 {
                // As in Swift: the string language has none.
                text += " IN \(bounds[0].description) ..< \(bounds[1].description)"
                return
            }
            text += " \(comparison.operation.spelling)\(comparison.options.spelling) "
            comparison.right.write(to: &text, variable: variable, depth: depth)
        }
    }
}

extension PredicateOperand {
    fileprivate func write(to text: inout String, variable: String?, depth: Int) {
        switch self {
        case .path(let path): text += PredicateOperand.text(of: path, variable: variable)
        case .value(let value): text += value.description
        case .subqueryCount(let subquery):
            let inner = "$x\(depth)"
            text += "SUBQUERY(\(PredicateOperand.text(of: subquery.collection, variable: variable)), \(inner), "
            subquery.predicate.writeSubquery(to: &text, variable: inner, depth: depth + 1)
            text += ").@count"
        }
    }

    private static func text(of path: PropertyPath, variable: String?) -> String {
        guard let variable else { return path.description }
        if path.steps.isEmpty { return variable }
        // In the place of the row itself stands the variable.
        if path.steps[0].isSubscript { return variable + path.description.dropFirst("SELF".count) }
        return "\(variable).\(path)"
    }
}

extension Predicate {
    fileprivate func writeSubquery(to text: inout String, variable: String, depth: Int) {
        write(to: &text, variable: variable, depth: depth, isPart: false)
    }
}
