import RealmTestSupport
import Synchronization

@testable import ActorRealm

/// What the classes of a release are made from: a type of its own for each class of each release, whose names, properties, keys
/// and indexes are plain data.
enum ShapeTable {
    private static let shapes = Mutex<[ObjectIdentifier: ReleaseShape.Class]>([:])

    static func register(_ type: any Any.Type, as shape: ReleaseShape.Class) {
        shapes.withLock { $0[ObjectIdentifier(type)] = shape }
    }

    static func shape(of type: any Any.Type) -> ReleaseShape.Class? { shapes.withLock { $0[ObjectIdentifier(type)] } }

    /// The name of a property in the program.
    static func slot(_ property: String, in shape: ReleaseShape.Class) -> String {
        "p\(shape.properties.firstIndex { $0.name == property } ?? 99)"
    }

    static func mapping(of type: any Any.Type) -> [String: String] {
        guard let shape = shape(of: type) else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: shape.properties.enumerated().map { ("p\($0.offset)", $0.element.name) }
        )
    }

    /// The defaults that a class declares, by the place of the property.
    static func defaults(of type: any Any.Type) -> [Int: any Sendable] {
        guard let shape = shape(of: type) else { return [:] }
        var defaults: [Int: any Sendable] = [:]
        for (place, property) in shape.properties.enumerated() {
            if let value = property.declaredDefault?.scalar { defaults[place] = value }
        }
        return defaults
    }

    /// What declares a property with a default; nil where there is none.
    static func wrapper<Value: _Persistable>(_ declared: (any Sendable)?) -> Persisted<Value>? {
        // Nil would be a value of an optional property.
        guard let declared, let value = declared as? Value else { return nil }
        return Persisted(wrappedValue: value)
    }

    static func ignored(in type: any Any.Type) -> [String] {
        (0..<8).map { "p\($0)" }.filter { mapping(of: type)[$0] == nil }
    }
}

protocol ShapedObject: ObjectBase, _PersistableInsideOptional {}

/// Numbers as types, so that each class of each release is another type.
protocol ShapeNumber {}
enum ShapeZero: ShapeNumber {}
enum ShapeEven<Half: ShapeNumber>: ShapeNumber {}
enum ShapeOdd<Half: ShapeNumber>: ShapeNumber {}

final class ShapedClass<
    Number: ShapeNumber,
    P0: _Persistable,
    P1: _Persistable,
    P2: _Persistable,
    P3: _Persistable,
    P4: _Persistable,
    P5: _Persistable,
    P6: _Persistable,
    P7: _Persistable
>: Object, ShapedObject {
    @Persisted var p0: P0
    @Persisted var p1: P1
    @Persisted var p2: P2
    @Persisted var p3: P3
    @Persisted var p4: P4
    @Persisted var p5: P5
    @Persisted var p6: P6
    @Persisted var p7: P7

    /// The same as if each property that has a default were declared with it.
    required init() {
        super.init()
        let defaults = ShapeTable.defaults(of: Self.self)
        if defaults.isEmpty { return }
        _p0 = ShapeTable.wrapper(defaults[0]) ?? _p0
        _p1 = ShapeTable.wrapper(defaults[1]) ?? _p1
        _p2 = ShapeTable.wrapper(defaults[2]) ?? _p2
        _p3 = ShapeTable.wrapper(defaults[3]) ?? _p3
        _p4 = ShapeTable.wrapper(defaults[4]) ?? _p4
        _p5 = ShapeTable.wrapper(defaults[5]) ?? _p5
        _p6 = ShapeTable.wrapper(defaults[6]) ?? _p6
        _p7 = ShapeTable.wrapper(defaults[7]) ?? _p7
    }

    override class func _realmObjectName() -> String? { ShapeTable.shape(of: self)?.name }
    override class func propertiesMapping() -> [String: String] { ShapeTable.mapping(of: self) }
    override class func ignoredProperties() -> [String] { ShapeTable.ignored(in: self) }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    override class func primaryKey() -> String? {
        ShapeTable.shape(of: self).flatMap { shape in shape.key.map { ShapeTable.slot($0, in: shape) } }
    }
    override class func indexedProperties() -> [String] {
        ShapeTable.shape(of: self).map { shape in shape.indexed.map { ShapeTable.slot($0, in: shape) } } ?? []
    }
    override class func compoundIndexes() -> [CompoundIndex] {
        guard let shape = ShapeTable.shape(of: self), let compound = shape.compound else { return [] }
        let names = compound.properties.map { ShapeTable.slot($0, in: shape) }
        return [CompoundIndex(names[0], names[1], unique: compound.isUnique)]
    }
}

final class ShapedPart<Number: ShapeNumber, P0: _Persistable, P1: _Persistable>: EmbeddedObject, ShapedObject {
    @Persisted var p0: P0
    @Persisted var p1: P1

    override class func _realmObjectName() -> String? { ShapeTable.shape(of: self)?.name }
    override class func propertiesMapping() -> [String: String] { ShapeTable.mapping(of: self) }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A map that no change concerns, for its observers.
final class ReleaseScores: Object {
    @Persisted var scores: Map<String, Int>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Makes the types of releases.
struct ShapeMaker {
    private static let count = Mutex(0)

    /// The types of a release, by class.
    static func types(of shape: ReleaseShape) -> [String: any ShapedObject.Type] {
        var types: [String: any ShapedObject.Type] = [:]
        for declared in shape.classes {
            var slots = declared.properties.map { slot($0.kind, types) }
            while slots.count < 8 { slots.append(Int.self) }
            let type = declared.isEmbedded ? part(slots) : object(slots)
            ShapeTable.register(type, as: declared)
            types[declared.name] = type
        }
        return types
    }

    /// The classes to open a file with.
    static func objectTypes(_ types: [String: any ShapedObject.Type], of shape: ReleaseShape) -> [ObjectBase.Type] {
        let dogs: [ObjectBase.Type] =
            shape.hasInverse
            ? [ReaderModels.Dog.self, ReaderModels.Owner.self]
            : [ReaderModels.LoneDog.self, ReaderModels.LoneOwner.self]
        let others: [ObjectBase.Type] = [
            ReleaseScores.self, ReleaseKeeper.Kept.self, ReleaseKeeper.type(shape.rule),
        ]
        return shape.classes.map { types[$0.name]! as ObjectBase.Type } + dogs + others
    }

    private static func slot(_ kind: ReleaseShape.Kind, _ types: [String: any ShapedObject.Type])
        -> any _Persistable.Type
    {
        switch kind {
        case .int: Int.self
        case .string: String.self
        case .double: Double.self
        case .bool: Bool.self
        case .optionalInt: Int?.self
        case .optionalString: String?.self
        case .optionalDouble: Double?.self
        case .ints: List<Int>.self
        case .strings: List<String>.self
        case .intMap: Map<String, Int>.self
        case .textMap: Map<String, String>.self
        case .intSet: MutableSet<Int>.self
        case .textSet: MutableSet<String>.self
        case .any: AnyRealmValue.self
        case .link(let target): optional(types[target]!)
        }
    }

    private static func optional<Target: ShapedObject>(_ type: Target.Type) -> any _Persistable.Type { Target?.self }

    private static func next() -> any ShapeNumber.Type {
        var digits = count.withLock { count in
            count += 1
            return count
        }
        var number: any ShapeNumber.Type = ShapeZero.self
        while digits > 0 {
            number = digits % 2 == 0 ? even(number) : odd(number)
            digits /= 2
        }
        return number
    }

    private static func even<Half: ShapeNumber>(_ half: Half.Type) -> any ShapeNumber.Type { ShapeEven<Half>.self }
    private static func odd<Half: ShapeNumber>(_ half: Half.Type) -> any ShapeNumber.Type { ShapeOdd<Half>.self }

    private static func object(_ slots: [any _Persistable.Type]) -> any ShapedObject.Type {
        object(next(), slots[0], slots[1], slots[2], slots[3], slots[4], slots[5], slots[6], slots[7])
    }

    private static func object<
        Number: ShapeNumber,
        P0: _Persistable,
        P1: _Persistable,
        P2: _Persistable,
        P3: _Persistable,
        P4: _Persistable,
        P5: _Persistable,
        P6: _Persistable,
        P7: _Persistable
    >(
        _: Number.Type,
        _: P0.Type,
        _: P1.Type,
        _: P2.Type,
        _: P3.Type,
        _: P4.Type,
        _: P5.Type,
        _: P6.Type,
        _: P7.Type
    ) -> any ShapedObject.Type {
        ShapedClass<Number, P0, P1, P2, P3, P4, P5, P6, P7>.self
    }

    private static func part(_ slots: [any _Persistable.Type]) -> any ShapedObject.Type {
        part(next(), slots[0], slots[1])
    }

    private static func part<Number: ShapeNumber, P0: _Persistable, P1: _Persistable>(
        _: Number.Type,
        _: P0.Type,
        _: P1.Type
    ) -> any ShapedObject.Type {
        ShapedPart<Number, P0, P1>.self
    }
}
