import RealmModel
import RealmQuery

/// Turns the names that the program gives to properties into those that stand in the file, where they differ.
///
/// A name that no property has is left as it is: it may be the one in the file.
struct ColumnNames {
    private let schema: ModelSchema

    /// Nil when all names of a realm are the same in the file, and those of a class, which the realm need not declare.
    init?(_ core: RealmCore, from info: ModelClass) {
        guard core.registry.schema.hasMappings || info.hasMapping else { return nil }
        schema = core.registry.schema
    }

    /// The steps of a path from the objects of a class, and the class that it leads to.
    private func resolve(_ path: PropertyPath, from info: ModelClass?) -> (path: PropertyPath, end: ModelClass?) {
        var info = info
        var steps: [PropertyPath.Step] = []
        for step in path.steps {
            guard case .property(let name) = step else {
                steps.append(step)
                continue
            }
            let property = info?.property(inPath: name)
            steps.append(.property(property?.columnName ?? name))
            info = property.flatMap { schema[$0.targetName] ?? $0.declaredTarget }
        }
        return (PropertyPath(steps: steps), info)
    }

    func path(_ path: PropertyPath, from info: ModelClass?) -> PropertyPath { resolve(path, from: info).path }

    func path(_ text: String, from info: ModelClass?) -> String {
        text.isEmpty || text == "self" ? text : path(PropertyPath(text), from: info).name
    }

    func predicate(_ predicate: Predicate, from info: ModelClass?) -> Predicate {
        switch predicate {
        case .constant: predicate
        case .and(let parts): .and(parts.map { self.predicate($0, from: info) })
        case .or(let parts): .or(parts.map { self.predicate($0, from: info) })
        case .not(let part): .not(self.predicate(part, from: info))
        case .comparison(var comparison):
            {
                comparison.left = operand(comparison.left, from: info)
                comparison.right = operand(comparison.right, from: info)
                return .comparison(comparison)
            }()
        }
    }

    private func operand(_ operand: PredicateOperand, from info: ModelClass?) -> PredicateOperand {
        switch operand {
        case .path(let path): return .path(self.path(path, from: info))
        case .value: return operand
        case .subqueryCount(var subquery):
            let (collection, end) = resolve(subquery.collection, from: info)
            subquery.collection = collection
            subquery.predicate = predicate(subquery.predicate, from: end)
            return .subqueryCount(subquery)
        }
    }
}
