extension Predicate {
    /// Every path that the predicate reads, from the row it is asked of; those of subqueries behind their collection.
    package var readPaths: [PropertyPath] {
        var result: [PropertyPath] = []
        var pending: [(predicate: Predicate, prefix: [PropertyPath.Step])] = [(self, [])]
        while let (predicate, prefix) = pending.popLast() {
            switch predicate {
            case .constant: break
            case .and(let parts), .or(let parts):
                for part in parts { pending.append((part, prefix)) }
            case .not(let part):
                pending.append((part, prefix))
            case .comparison(let comparison):
                for operand in [comparison.left, comparison.right] {
                    switch operand {
                    case .path(let path):
                        result.append(PropertyPath(steps: prefix + path.steps))
                    case .value: break
                    case .subqueryCount(let subquery):
                        let collection = prefix + subquery.collection.steps
                        result.append(PropertyPath(steps: collection))
                        pending.append((subquery.predicate, collection))
                    }
                }
            }
        }
        return result
    }
}
