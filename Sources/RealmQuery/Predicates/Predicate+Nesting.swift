extension Predicate {
    /// Why a predicate that nests too deep is refused, and where that is: the operators on the way down to the first of
    /// its deepest parts, from the outermost one, and the beginning of that part.
    func deepNesting(limit: Int) -> String {
        // The way to a node is followed back once the deepest one is known.
        var nodes: [(predicate: Predicate, parent: Int, number: Int, depth: Int)] = [(self, -1, 0, 1)]
        var pending = [0]
        var deepest = 0
        while let place = pending.popLast() {
            let node = nodes[place]
            if node.depth > nodes[deepest].depth { deepest = place }
            let first = nodes.count
            for (number, part) in node.predicate.parts.enumerated() {
                nodes.append((part, place, number, node.depth + 1))
            }
            pending += (first..<nodes.count).reversed()
        }
        var way: [String] = []
        var place = deepest
        while nodes[place].parent >= 0 {
            let parent = nodes[nodes[place].parent].predicate
            way.append(parent.operatorName(leadingTo: nodes[place].number))
            place = nodes[place].parent
        }
        way.reverse()
        let shown = 6
        let rest = way.count - shown
        let start = way.prefix(shown).joined(separator: " > ")
        let end = nodes[deepest].predicate.description
        return "The predicate nests \(nodes[deepest].depth) deep, more than the \(limit) that are allowed: "
            + (rest > 0 ? "\(start) > … (\(rest) more)" : start)
            + " leads to '\(end.prefix(80))\(end.count > 80 ? "…" : "")'. "
            + "Parts that are joined by one and the same operator do not nest."
    }

    /// The predicates that this one is made of.
    private var parts: [Predicate] {
        switch self {
        case .constant: []
        case .and(let parts), .or(let parts): parts
        case .not(let part): [part]
        case .comparison(let comparison):
            [comparison.left, comparison.right]
                .compactMap { operand in
                    if case .subqueryCount(let subquery) = operand { subquery.predicate } else { nil }
                }
        }
    }

    /// What a step down to one of the parts is called.
    private func operatorName(leadingTo number: Int) -> String {
        switch self {
        case .constant: return ""
        case .and(let parts): return "AND (part \(number + 1) of \(parts.count))"
        case .or(let parts): return "OR (part \(number + 1) of \(parts.count))"
        case .not: return "NOT"
        case .comparison(let comparison):
            let collections = [comparison.left, comparison.right]
                .compactMap { operand -> PropertyPath? in
                    if case .subqueryCount(let subquery) = operand { subquery.collection } else { nil }
                }
            return "SUBQUERY(\(collections[number]))"
        }
    }
}
