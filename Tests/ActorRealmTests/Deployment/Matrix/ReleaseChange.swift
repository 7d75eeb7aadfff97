import RealmTestSupport

/// What a later release does to the classes.
enum ReleaseChange: String, CaseIterable, Sendable {
    case classAdded, classRemoved, classRenamed
    case propertyAdded, propertyRemoved, propertyMoved, propertyRetyped, madeOptional, madeRequired
    case linkTargetChanged, keyAdded, keyRemoved, keyChanged, embeddednessChanged
    case indexAdded, indexRemoved, uniqueAdded, uniqueRemoved, compoundAdded, compoundRemoved
    case inverseAdded, inverseRemoved
    case propertyRenamed, listElementsRetyped
    case mapAdded, mapRemoved, mapElementsRetyped, setAdded, setRemoved, setElementsRetyped
    case anyAdded, anyRemoved, anyRetyped
    case cascadeAdded, cascadeRemoved, denyAdded, denyRemoved, cascadeToDeny, denyToCascade
    /// A property is added whose default is declared.
    case defaultAdded

    /// Whether a program of the release before goes on: everything that it declares is there as it declares it.
    ///
    /// What a program declares of indexes and rules stays as long as its realm is open. A delete rule that denies more takes nothing away
    /// from it; one that deletes what the program means to stay does.
    var leavesTheOldReleaseRunning: Bool {
        switch self {
        case .classAdded, .propertyAdded, .propertyMoved, .indexAdded, .indexRemoved, .uniqueAdded, .uniqueRemoved,
            .compoundAdded, .compoundRemoved, .inverseAdded, .inverseRemoved, .mapAdded, .setAdded, .anyAdded,
            .defaultAdded, .cascadeRemoved, .denyAdded, .denyRemoved, .cascadeToDeny, .denyToCascade:
            true
        case .classRemoved, .classRenamed, .propertyRemoved, .propertyRetyped, .madeOptional, .madeRequired,
            .linkTargetChanged, .keyAdded, .keyRemoved, .keyChanged, .embeddednessChanged, .propertyRenamed,
            .listElementsRetyped, .mapRemoved, .mapElementsRetyped, .setRemoved, .setElementsRetyped, .anyRemoved,
            .anyRetyped, .cascadeAdded:
            false
        }
    }

    /// The delete rules before and behind a change of them.
    private var rules: (before: ReleaseShape.Rule, after: ReleaseShape.Rule)? {
        switch self {
        case .cascadeAdded: (.nullify, .cascade)
        case .cascadeRemoved: (.cascade, .nullify)
        case .denyAdded: (.nullify, .deny)
        case .denyRemoved: (.deny, .nullify)
        case .cascadeToDeny: (.cascade, .deny)
        case .denyToCascade: (.deny, .cascade)
        default: nil
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
        case .madeOptional: shape.changeKind("a", to: [.int, .string, .double], using: &random)
        case .madeRequired: shape.changeKind("a", to: [.optionalInt, .optionalString, .optionalDouble], using: &random)
        case .listElementsRetyped: shape.changeKind("a", to: ReleaseShape.Kind.lists, using: &random)
        case .mapRemoved, .mapElementsRetyped: shape.changeKind("a", to: ReleaseShape.Kind.maps, using: &random)
        case .setRemoved, .setElementsRetyped: shape.changeKind("a", to: ReleaseShape.Kind.sets, using: &random)
        case .anyRemoved: shape.changeKind("a", to: [.any], using: &random)
        // From it as often as to it.
        case .anyRetyped: shape.changeKind("a", to: [.any, .any, .int, .string], using: &random)
        default: if let rules { shape.rule = rules.before }
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
        case .propertyAdded: shape.add(fresh, using: &random)
        case .mapAdded: shape.add(ReleaseShape.Kind.maps, using: &random)
        case .setAdded: shape.add(ReleaseShape.Kind.sets, using: &random)
        case .anyAdded: shape.add([.any], using: &random)
        case .defaultAdded:
            let kind = ReleaseShape.Kind.scalars.randomElement(using: &random)!
            let value = ReleaseValue.declaredDefault(kind, using: &random)
            shape.add(ReleaseShape.Property(name: "added", kind: kind, declaredDefault: value), using: &random)
        case .propertyRemoved, .mapRemoved, .setRemoved, .anyRemoved:
            shape["Item"]?.properties.removeAll { $0.name == "a" }
        case .propertyRenamed: shape.rename("a", to: "renamed")
        case .propertyMoved: shape["Item"]?.properties.shuffle(using: &random)
        case .propertyRetyped:
            let old = shape["Item"]!["a"]!.kind
            let others = ReleaseShape.Kind.plain.filter { $0 != old && $0 != old.counterpart }
            shape.changeKind("a", to: others, using: &random)
        case .listElementsRetyped: shape.changeElements("a", among: ReleaseShape.Kind.lists, using: &random)
        case .mapElementsRetyped: shape.changeElements("a", among: ReleaseShape.Kind.maps, using: &random)
        case .setElementsRetyped: shape.changeElements("a", among: ReleaseShape.Kind.sets, using: &random)
        case .anyRetyped:
            let isAny = shape["Item"]!["a"]!.kind == .any
            shape.changeKind("a", to: isAny ? [.int, .string, .ints, .intMap] : [.any], using: &random)
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
        case .cascadeAdded, .cascadeRemoved, .denyAdded, .denyRemoved, .cascadeToDeny, .denyToCascade:
            if let rules { shape.rule = rules.after }
        }
    }
}

extension ReleaseShape {
    /// Gives a property of the items another kind.
    fileprivate mutating func changeKind(_ name: String, to kinds: [Kind], using random: inout SplitMix64) {
        guard let place = self["Item"]?.properties.firstIndex(where: { $0.name == name }) else { return }
        self["Item"]?.properties[place].kind = kinds.randomElement(using: &random)!
    }

    /// Gives a collection of the items other elements.
    fileprivate mutating func changeElements(_ name: String, among kinds: [Kind], using random: inout SplitMix64) {
        let old = self["Item"]?[name]?.kind
        changeKind(name, to: kinds.filter { $0 != old }, using: &random)
    }

    /// Adds a property to the items, anywhere among the others.
    fileprivate mutating func add(_ property: Property, using random: inout SplitMix64) {
        let place = Int.random(in: 0...self["Item"]!.properties.count, using: &random)
        self["Item"]?.properties.insert(property, at: place)
    }

    /// Adds a property of one of several kinds to the items.
    fileprivate mutating func add(_ kinds: [Kind], using random: inout SplitMix64) {
        add(Property(name: "added", kind: kinds.randomElement(using: &random)!), using: &random)
    }

    /// Gives a property of the items another name.
    fileprivate mutating func rename(_ name: String, to newName: String) {
        guard let place = self["Item"]?.properties.firstIndex(where: { $0.name == name }) else { return }
        self["Item"]?.properties[place].name = newName
        self["Item"]?.properties[place].formerName = name
    }
}
