package import RealmModel
import RealmStorage

/// Which writes, to a row and to the rows it leads to, count as a change of the row.
///
/// A tree of properties: what was written at its leaves is carried back to the rows at its root through backlinks, so
/// that the work depends on what changed and not on how many rows are observed.
package struct ChangePaths: Sendable {
    /// One step from a row to others.
    indirect enum Step: Sendable {
        /// Along a link, or a collection of links.
        case forward(property: Int, Node)
        /// To the rows of the node's table that link here with a property.
        case backward(property: Int, Node)
    }

    /// A table and what counts in it.
    struct Node: Sendable {
        var table: UInt32
        /// The properties whose writes count; nil for all of them.
        var columns: ColumnSet?
        var steps: [Step] = []
    }

    /// How deep changes are looked for when no key paths are given.
    package static let defaultDepth = 4

    private enum Shape: Sendable {
        case tree(Node)
        /// Every property of the row and of what it links to, up to a number of links; `distances` are those of the
        /// tables within reach.
        case everything(table: UInt32, depth: Int, distances: [UInt32: Int])
    }

    private var shape: Shape
    /// Whether only writes to the row itself count.
    let isShallow: Bool

    /// Everything in a row and in the rows that at most `depth` links lead to.
    package init(everythingIn table: UInt32, depth: Int = defaultDepth, schema: DatabaseSchema) {
        var distances: [UInt32: Int] = [table: 0]
        var frontier = [table]
        for distance in stride(from: 1, through: depth, by: 1) {
            var next: [UInt32] = []
            for origin in frontier {
                for property in schema.schema(of: origin)?.properties ?? [] where property.makesLinks {
                    for target in schema.tables(linkedBy: property) where distances[target] == nil {
                        distances[target] = distance
                        next.append(target)
                    }
                }
            }
            frontier = next
        }
        shape = .everything(table: table, depth: depth, distances: distances)
        isShallow = depth == 0 || schema.schema(of: table)?.properties.contains(where: \.makesLinks) != true
    }

    /// What key paths name: each property on the way, and the one at the end.
    /// - Throws: a `QueryError` when a path does not fit the schema.
    package init(_ paths: [PropertyPath], in className: String, schema: DatabaseSchema) throws(QueryError) {
        guard let root = schema[className] else {
            throw QueryError("Object type '\(className)' is not managed by the Realm.")
        }
        var node = Node(table: root.tableID, columns: ColumnSet())
        for path in paths {
            try ChangePaths.insert(path.steps[...], of: path, into: &node, root, schema)
        }
        shape = .tree(node)
        isShallow = node.steps.isEmpty
    }

    /// Whether no write at all counts.
    package var isEmpty: Bool {
        if case .tree(let node) = shape { return node.columns?.isEmpty == true && node.steps.isEmpty }
        return false
    }

    /// Whether every write counts that links lead to, to the default depth.
    var isEverything: Bool {
        if case .everything(_, let depth, _) = shape { depth == ChangePaths.defaultDepth } else { false }
    }

    /// Whether nothing counts that links do not lead to within the default depth.
    var isWithinEverything: Bool {
        func isWithin(_ node: Node, _ depth: Int) -> Bool {
            depth >= 0
                && node.steps.allSatisfy { step in
                    if case .forward(_, let child) = step { isWithin(child, depth - 1) } else { false }
                }
        }
        switch shape {
        case .tree(let node): return isWithin(node, ChangePaths.defaultDepth)
        case .everything(_, let depth, _): return depth <= ChangePaths.defaultDepth
        }
    }

    /// Whether links lead from the rows at the root to everything that counts, so that what was linked before is found
    /// among what was written.
    var isForward: Bool {
        func isForward(_ node: Node) -> Bool {
            node.steps.allSatisfy { step in
                if case .forward(_, let child) = step { isForward(child) } else { false }
            }
        }
        return switch shape {
        case .tree(let node): isForward(node)
        case .everything: true
        }
    }

    /// Whether a write of these columns of a row itself counts.
    func counts(_ columns: ColumnSet) -> Bool {
        guard case .tree(let node) = shape, let counted = node.columns else { return true }
        return !columns.isDisjoint(with: counted)
    }

    private static func insert(
        _ steps: ArraySlice<PropertyPath.Step>,
        of path: PropertyPath,
        into node: inout Node,
        _ schema: ClassSchema,
        _ database: DatabaseSchema
    ) throws(QueryError) {
        guard let step = steps.first else { return }
        guard case .property(let name) = step else {
            // Operators and dictionary keys look at the same collection.
            try insert(steps.dropFirst(), of: path, into: &node, schema, database)
            return
        }
        guard let ordinal = schema.ordinal(of: name) else {
            throw QueryError("property '\(name)' not found in object of type '\(schema.name)'")
        }
        let property = schema.properties[ordinal]
        let rest = steps.dropFirst()
        let goesOn = rest.contains { if case .property = $0 { true } else { false } }
        if property.kind == .linkingObjects {
            guard let origin = property.targetClass.flatMap({ database[$0] }),
                let originProperty = property.originProperty.flatMap({ origin.ordinal(of: $0) })
            else { throw QueryError("property '\(name)' of type '\(schema.name)' has no origin in the schema") }
            // Objects that begin and cease to link count without being named.
            var child = node.takeBackward(originProperty, table: origin.tableID)
            try insert(rest, of: path, into: &child, origin, database)
            node.steps.append(.backward(property: originProperty, child))
            return
        }
        node.columns?.insert(ordinal)
        guard goesOn else { return }
        guard property.isLink, let target = property.targetClass.flatMap({ database[$0] }) else {
            throw QueryError(
                "Invalid keypath '\(path)': Property '\(schema.name).\(name)' is not a link or collection and can only "
                    + "appear at the end of a keypath."
            )
        }
        var child = node.takeForward(ordinal, table: target.tableID)
        try insert(rest, of: path, into: &child, target, database)
        node.steps.append(.forward(property: ordinal, child))
    }
}

extension ChangePaths.Node {
    /// Takes out the step along a property, or a new one.
    fileprivate mutating func takeForward(_ property: Int, table: UInt32) -> Self {
        for (index, step) in steps.enumerated() {
            if case .forward(property, let node) = step {
                steps.remove(at: index)
                return node
            }
        }
        return Self(table: table, columns: ColumnSet())
    }

    /// Takes out the step back along a property, or a new one.
    fileprivate mutating func takeBackward(_ property: Int, table: UInt32) -> Self {
        for (index, step) in steps.enumerated() {
            if case .backward(property, let node) = step, node.table == table {
                steps.remove(at: index)
                return node
            }
        }
        return Self(table: table, columns: ColumnSet())
    }
}

extension ChangePaths {
    /// The tables in which a write can count.
    package var tables: Set<UInt32> {
        switch shape {
        case .everything(_, _, let distances): return Set(distances.keys)
        case .tree(let node):
            var result: Set<UInt32> = []
            var nodes = [node]
            while let node = nodes.popLast() {
                result.insert(node.table)
                for step in node.steps {
                    switch step {
                    case .forward(_, let child), .backward(_, let child): nodes.append(child)
                    }
                }
            }
            return result
        }
    }

    /// The rows, ascending, that a step changed: rows of the root table that existed before or exist now.
    ///
    /// Rows that were inserted or deleted themselves are not in it unless a row they lead to says so.
    package func changedKeys(in step: ChangeStep) throws -> [Int64] {
        switch shape {
        case .tree(let node):
            return try step.tracing.keys(of: node)
        case .everything(let table, let depth, let distances):
            // Tables out of reach cost nothing.
            guard step.changes.tables.keys.contains(where: { distances[$0] != nil }) else { return [] }
            return try step.tracing.keys(in: table, depth: depth)
        }
    }
}
