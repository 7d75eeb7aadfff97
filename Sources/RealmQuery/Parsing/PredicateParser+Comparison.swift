import RealmModel

extension PredicateParser {
    /// The words that cannot begin a path unless a `#` stands before them.
    static let reservedWords: Set<String> = [
        "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "CONTAINS", "BEGINSWITH", "ENDSWITH", "MATCHES", "ANY", "SOME",
        "ALL", "NONE", "SUBQUERY", "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "YES", "FALSE", "NO", "NULL", "NIL",
        "CAST", "FUNCTION", "TERNARY", "SELF",
    ]

    /// Whether a property of this name must be written with a `#`.
    static func isReserved(_ name: String) -> Bool {
        name.utf8.count <= 16 && reservedWords.contains(name.uppercased())
    }

    /// Reads `[ANY|ALL|NONE] operand operator operand`, or the head of a `SUBQUERY`.
    mutating func comparison() throws(PredicateParseError) -> ComparisonResult {
        var quantifier: PredicateQuantifier?
        let start = token.position
        switch keyword {
        case "ANY", "SOME": quantifier = .any
        case "ALL": quantifier = .all
        case "NONE": quantifier = PredicateQuantifier.none
        default: break
        }
        if quantifier != nil { try advance() }
        if keyword == "SUBQUERY" {
            if quantifier != nil { throw failure("SUBQUERY cannot be combined with ANY, ALL or NONE", at: start) }
            return .opened(try subqueryHead())
        }
        let left = try simpleOperand()
        let operatorPosition = token.position
        let (operation, options) = try comparisonOperator()
        if keyword == "SUBQUERY" {
            if quantifier != nil { throw failure("SUBQUERY cannot be combined with ANY, ALL or NONE", at: start) }
            guard operation.mirrored != nil else {
                throw failure("the count of a SUBQUERY can only be compared with a number", at: operatorPosition)
            }
            var subquery = try subqueryHead()
            subquery.left = (left, operation, options)
            return .opened(subquery)
        }
        let right = try simpleOperand()
        return .finished(
            Node(
                predicate: .comparison(
                    PredicateComparison(
                        left,
                        operation,
                        right,
                        options: options,
                        quantifier: quantifier,
                        position: start
                    )
                ),
                depth: 1
            )
        )
    }

    /// The head of a subquery: `SUBQUERY(collection, $x,`.
    private mutating func subqueryHead() throws(PredicateParseError) -> OpenSubquery {
        try advance()
        try expect(.openParenthesis, "'('")
        let position = token.position
        guard case .path(let collection) = try simpleOperand() else {
            throw failure("SUBQUERY takes a collection first", at: position)
        }
        try expect(.comma, "','")
        guard case .variable(let variable) = token.kind else {
            throw failure("expected a variable such as $x but found \(foundToken)")
        }
        try advance()
        try expect(.comma, "','")
        return OpenSubquery(collection: collection, variable: variable)
    }

    /// An operator with its options.
    mutating func comparisonOperator() throws(PredicateParseError) -> (ComparisonOperator, StringComparisonOptions) {
        let operation: ComparisonOperator
        if case .comparison(let symbol) = token.kind {
            operation = symbol
        } else {
            switch keyword {
            case "BETWEEN": operation = .between
            case "IN": operation = .in
            case "BEGINSWITH": operation = .beginsWith
            case "ENDSWITH": operation = .endsWith
            case "CONTAINS": operation = .contains
            case "LIKE": operation = .like
            case "MATCHES": throw failure("MATCHES is not supported; use LIKE")
            default:
                throw failure("expected an operator such as == or CONTAINS but found \(foundToken)")
            }
        }
        try advance()
        guard token.kind == .openBracket else { return (operation, []) }
        try advance()
        guard case .word(let letters) = token.kind else { throw failure("expected [c], [d] or [cd]") }
        var options: StringComparisonOptions = []
        for letter in letters.unicodeScalars {
            switch letter {
            case "c", "C": options.insert(.caseInsensitive)
            case "d", "D": options.insert(.diacriticInsensitive)
            default: throw failure("'[\(letters.prefix(8))]' is not supported; use [c], [d] or [cd]")
            }
        }
        try advance()
        try expect(.closeBracket, "']'")
        return (operation, options)
    }

    /// A path, a constant or a list of constants.
    mutating func simpleOperand() throws(PredicateParseError) -> PredicateOperand {
        switch token.kind {
        case .word, .escapedWord, .collectionOperator: break
        case .variable(let name):
            guard let innermost = innermostVariable else {
                throw failure("variables such as \(name) are only known inside SUBQUERY")
            }
            guard name == innermost else {
                throw failure("\(name) is not the variable of the innermost SUBQUERY (\(innermost))")
            }
            try advance()
            var steps: [PropertyPath.Step] = []
            try remainingSteps(of: &steps, from: token.position)
            return .path(PropertyPath(steps: steps))
        case .placeholder(.keyPath):
            return try argumentPath()
        case .openBrace:
            return .value(try listLiteral())
        default:
            return .value(try constant())
        }
        switch keyword {
        case "TRUE", "YES", "FALSE", "NO", "NULL", "NIL": return .value(try constant())
        case "CAST", "FUNCTION", "TERNARY": throw failure("\(keyword ?? "") is not supported")
        case "SELF": return try path()
        case let word? where Self.reservedWords.contains(word):
            throw failure(
                "expected a property or a value but found \(foundToken); a property of that name is written #name"
            )
        default: return try path()
        }
    }

    private mutating func path() throws(PredicateParseError) -> PredicateOperand {
        let position = token.position
        if innermostVariable != nil {
            throw failure("inside SUBQUERY a path starts with \(innermostVariable ?? "")")
        }
        var steps: [PropertyPath.Step] = []
        if keyword != "SELF" {
            steps.append(try step())
        } else {
            try advance()
        }
        try remainingSteps(of: &steps, from: position)
        return .path(PropertyPath(steps: steps))
    }

    private mutating func step() throws(PredicateParseError) -> PropertyPath.Step {
        let step: PropertyPath.Step
        switch token.kind {
        case .word(let name), .escapedWord(let name): step = .property(name)
        case .collectionOperator(let name): step = PropertyPath.Step(name: name)
        default: throw failure("no key name after last '.'")
        }
        try advance()
        return step
    }

    /// `.name`, `.@count` and `['key']`, as many as follow.
    private mutating func remainingSteps(
        of steps: inout [PropertyPath.Step],
        from position: Int
    ) throws(PredicateParseError) {
        while true {
            if token.kind == .dot {
                try advance()
                if token.kind == .placeholder(.keyPath) {
                    let place = token.position
                    let named = try argumentSteps()
                    if named.isEmpty { throw failure("the argument for %K names no property", at: place) }
                    steps += named
                } else {
                    steps.append(try step())
                }
            } else if token.kind == .openBracket {
                try advance()
                switch token.kind {
                case .string(let key): steps.append(.key(key))
                case .int(let index) where index >= 0 && index <= Int.max: steps.append(.index(Int(index)))
                case .escapedWord(let word) where word.lowercased() == "any": steps.append(.anyElement)
                case .placeholder(.any), .placeholder(.integer):
                    switch try argument() {
                    case .string(let key) where token.kind == .placeholder(.any): steps.append(.key(key))
                    case .int(let index) where index >= 0 && index <= Int.max: steps.append(.index(Int(index)))
                    default: throw failure("the key of a dictionary is a string, the place in a list 0 or more")
                    }
                default: throw failure("expected the key of a dictionary but found \(foundToken)")
                }
                try advance()
                try expect(.closeBracket, "']'")
            } else {
                break
            }
            guard steps.count <= PredicateLimits.pathStepCount else {
                throw failure("a path has more than \(PredicateLimits.pathStepCount) steps", at: position)
            }
        }
    }

    /// `%K`, with more steps behind it where there are any.
    private mutating func argumentPath() throws(PredicateParseError) -> PredicateOperand {
        let position = token.position
        if innermostVariable != nil {
            throw failure("inside SUBQUERY a path starts with \(innermostVariable ?? "")")
        }
        var steps = try argumentSteps()
        try remainingSteps(of: &steps, from: position)
        return .path(PropertyPath(steps: steps))
    }

    /// The steps that stand in the argument for `%K`.
    private mutating func argumentSteps() throws(PredicateParseError) -> [PropertyPath.Step] {
        let position = token.position
        guard case .string(let text) = try argument() else {
            throw failure("the argument for %K must be a string", at: position)
        }
        let steps = PropertyPath(text).steps
        guard steps.count <= PredicateLimits.pathStepCount else {
            throw failure("a path has more than \(PredicateLimits.pathStepCount) steps", at: position)
        }
        try advance()
        return steps
    }

    /// A list: `{1, 2, 3}`.
    private mutating func listLiteral() throws(PredicateParseError) -> PredicateValue {
        let position = token.position
        try advance()
        var values: [PredicateValue] = []
        while token.kind != .closeBrace {
            if !values.isEmpty { try expect(.comma, "',' or '}'") }
            let value = try constant()
            if case .list = value { throw failure("a list cannot contain a list", at: position) }
            values.append(value)
            guard values.count <= PredicateLimits.listCount else {
                throw failure("a list has more than \(PredicateLimits.listCount) values", at: position)
            }
        }
        try advance()
        return .list(values)
    }

    private mutating func constant() throws(PredicateParseError) -> PredicateValue {
        let value: PredicateValue
        switch token.kind {
        case .int(let number): value = .int(number)
        case .double(let number): value = .double(number)
        case .decimal(let number): value = .decimal(number)
        case .string(let text): value = .string(text)
        case .placeholder(let placeholder): value = try argument(for: placeholder)
        case .word:
            switch keyword {
            case "TRUE", "YES": value = .bool(true)
            case "FALSE", "NO": value = .bool(false)
            case "NULL", "NIL": value = .null
            default: throw failure("expected a value but found \(foundToken)")
            }
        default: throw failure("expected a property or a value but found \(foundToken)")
        }
        try advance()
        return value
    }

    private mutating func argument() throws(PredicateParseError) -> PredicateValue {
        guard nextArgument < arguments.count else {
            throw failure("there are more placeholders than the \(arguments.count) arguments given")
        }
        defer { nextArgument += 1 }
        return arguments[nextArgument]
    }

    private mutating func argument(
        for placeholder: PredicateToken.Placeholder
    ) throws(PredicateParseError) -> PredicateValue {
        let value = try argument()
        switch (placeholder, value) {
        case (.any, _): return value
        case (.keyPath, _): throw failure("%K stands for a key path, not for a value")
        case (.integer, .int), (.floatingPoint, .double), (.floatingPoint, .float): return value
        case (.integer, .bool(let flag)): return .int(flag ? 1 : 0)
        // A decimal that is a whole number, and an integer beyond 64 bits with a sign, such as a `UInt64`.
        case (.integer, .decimal(let number)) where number.number.isWhole:
            return number.number.integer.map { PredicateValue.int($0) } ?? value
        case (.floatingPoint, .int(let number)): return .double(Double(number))
        case (.floatingPoint, .decimal(let number)): return .double(number.number.double)
        case (.integer, _): throw failure("the argument for %d must be an integer, not a \(value.typeName)")
        case (.floatingPoint, _): throw failure("the argument for %f must be a number, not a \(value.typeName)")
        }
    }
}
