import RealmTestSupport

/// What a later release does to the classes.
enum ReleaseChange: String, CaseIterable, Sendable {
    case classAdded, classRemoved, classRenamed
    case propertyAdded, propertyRemoved, propertyMoved, propertyRetyped, madeOptional, madeRequired
    case linkTargetChanged, keyAdded, keyRemoved, keyChanged, embeddednessChanged
    case indexAdded, indexRemoved, uniqueAdded, uniqueRemoved, compoundAdded, compoundRemoved
    case inverseAdded, inverseRemoved

    /// Whether a program of the release before goes on: everything that it declares is there as it declares it.
    ///
    /// What a program declares of indexes and rules stays as long as its realm is open.
    var leavesTheOldReleaseRunning: Bool {
        switch self {
        case .classAdded, .propertyAdded, .propertyMoved, .indexAdded, .indexRemoved, .uniqueAdded, .uniqueRemoved,
            .compoundAdded, .compoundRemoved, .inverseAdded, .inverseRemoved:
            true
        case .classRemoved, .classRenamed, .propertyRemoved, .propertyRetyped, .madeOptional, .madeRequired,
            .linkTargetChanged, .keyAdded, .keyRemoved, .keyChanged, .embeddednessChanged:
            false
        }
    }

    /// Brings the release before into a form that can be changed so.
    func prepare(_ shape: inout ReleaseShape, using random: inout SplitMix64) {
        switch self {
        case .keyAdded: shape["Item"]?.key = nil
        case .keyRemoved, .keyChanged: shape["Item"]?.key = "n"
        case .indexAdded: shape["Item"]?.indexed = []
        case .indexRemoved: shape["Item"]?.indexed = ["m"]
        case .uniqueAdded: shape["Item"]?.compound = (false, ["n", "m"])
        case .uniqueRemoved: shape["Item"]?.compound = (true, ["n", "m"])
        case .compoundAdded: shape["Item"]?.compound = nil
        case .compoundRemoved: shape["Item"]?.compound = (Bool.random(using: &random), ["n", "m"])
        case .inverseAdded: shape.hasInverse = false
        case .inverseRemoved: shape.hasInverse = true
        case .madeOptional: shape.changeKind("a", to: [.int, .string], using: &random)
        case .madeRequired: shape.changeKind("a", to: [.optionalInt, .optionalString], using: &random)
        default: break
        }
    }

    /// Changes the release before into the later one.
    func apply(to shape: inout ReleaseShape, using random: inout SplitMix64) {
        let fresh = ReleaseShape.Property(name: "added", kind: ReleaseShape.Kind.plain.randomElement(using: &random)!)
        switch self {
        case .classAdded:
            let properties = [ReleaseShape.Property(name: "n", kind: .int), fresh]
            shape.classes.insert(ReleaseShape.Class(name: "Fresh", properties: properties), at: 0)
        case .classRemoved: shape["Extra"] = nil
        case .classRenamed: shape["Extra"]?.name = "Renamed"
        case .propertyAdded:
            let place = Int.random(in: 0...shape["Item"]!.properties.count, using: &random)
            shape["Item"]?.properties.insert(fresh, at: place)
        case .propertyRemoved: shape["Item"]?.properties.removeAll { $0.name == "a" }
        case .propertyMoved: shape["Item"]?.properties.shuffle(using: &random)
        case .propertyRetyped:
            let old = shape["Item"]!["a"]!.kind
            let others = ReleaseShape.Kind.plain.filter { $0 != old && $0 != old.counterpart }
            shape.changeKind("a", to: others, using: &random)
        case .madeOptional, .madeRequired:
            shape.changeKind("a", to: [shape["Item"]!["a"]!.kind.counterpart!], using: &random)
        case .linkTargetChanged: shape.changeKind("link", to: [.link("Other")], using: &random)
        case .keyAdded: shape["Item"]?.key = "n"
        case .keyRemoved: shape["Item"]?.key = nil
        case .keyChanged: shape["Item"]?.key = "m"
        case .embeddednessChanged: shape["Part"]?.isEmbedded.toggle()
        case .indexAdded: shape["Item"]?.indexed = ["m"]
        case .indexRemoved: shape["Item"]?.indexed = []
        case .uniqueAdded: shape["Item"]?.compound = (true, ["n", "m"])
        case .uniqueRemoved: shape["Item"]?.compound = (false, ["n", "m"])
        case .compoundAdded: shape["Item"]?.compound = (Bool.random(using: &random), ["n", "m"])
        case .compoundRemoved: shape["Item"]?.compound = nil
        case .inverseAdded: shape.hasInverse = true
        case .inverseRemoved: shape.hasInverse = false
        }
    }
}

extension ReleaseShape {
    /// Gives a property of the items another kind.
    fileprivate mutating func changeKind(_ name: String, to kinds: [Kind], using random: inout SplitMix64) {
        guard let place = self["Item"]?.properties.firstIndex(where: { $0.name == name }) else { return }
        self["Item"]?.properties[place].kind = kinds.randomElement(using: &random)!
    }
}
