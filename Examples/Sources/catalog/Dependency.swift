import ActorRealm

/// What ties one package to another.
enum DependencyKind: Int, PersistableEnum {
    case depends
    case preDepends
    case recommends
    case suggests
    case provides

    /// The name of the field in a package list.
    var field: String {
        switch self {
        case .depends: "Depends"
        case .preDepends: "Pre-Depends"
        case .recommends: "Recommends"
        case .suggests: "Suggests"
        case .provides: "Provides"
        }
    }

    /// Whether a package does not work without what it names.
    var isHard: Bool { self == .depends || self == .preDepends }
}

/// One package's tie to another.
final class Dependency: Object {
    @Persisted var target: Package?
    @Persisted var kind: DependencyKind
    /// The versions that will do, such as ">= 2.34"; empty when all do.
    @Persisted var constraint: String
    /// The position among alternatives: 0 for the one that is preferred.
    @Persisted var alternative: Int
    @Persisted(originProperty: "dependencies") var owners: LinkingObjects<Package>

    /// The package that depends.
    var source: Package? { owners.first }

    convenience init(_ record: DependencyRecord, target: Package) {
        self.init()
        self.target = target
        kind = record.kind
        constraint = record.constraint
        alternative = record.alternative
    }

    /// Whether the dependency stands in the realm just as the record describes it.
    func agrees(with record: DependencyRecord) -> Bool {
        kind == record.kind && alternative == record.alternative && constraint == record.constraint
            && target?.key == record.target
    }
}
