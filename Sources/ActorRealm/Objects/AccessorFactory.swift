import CRealmShims
import RealmModel

/// Makes the accessors of one class: by copying one that was made as its initializer makes them, where that is possible.
struct AccessorFactory: ~Copyable {
    private let info: ModelClass
    private let state: UnsafeMutablePointer<TableState>
    private let template: ObjectBase?
    /// The same, where its references are not counted.
    private let templateAddress: UnsafeRawPointer?
    private let wrappersKnowOwner: Bool
    private let instanceSize: Int
    private let alignmentMask: Int
    /// Whether accessors keep no collections.
    let keepsNoCollections: Bool
    /// An accessor that was used by an iteration which has ended; a bare address, which no mirror looks behind.
    private var spare: UnsafeMutableRawPointer?

    init(_ info: ModelClass, state: UnsafeMutablePointer<TableState>) {
        self.info = info
        self.state = state
        instanceSize = info.instanceSize
        alignmentMask = info.alignmentMask
        keepsNoCollections = info.collections.isEmpty
        wrappersKnowOwner = info.wrappersKnowOwner
        if info.isClonable {
            let instance = info.type.init()
            for property in info.properties { property.reset(in: instance, key: property.key) }
            instance.tableState = state
            template = instance
        } else {
            template = nil
        }
        templateAddress = template.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
    }

    /// Notes whose accessors they are.
    func attach(to accessor: TableAccessor) { template?.tableAccessor = accessor }

    /// Lets go of the accessor that waits, while what it refers to is still there.
    mutating func releaseSpare() {
        if let spare { Unmanaged<ObjectBase>.fromOpaque(spare).release() }
        spare = nil
    }

    /// An accessor that nobody else holds, of no row.
    @inline(__always)
    func make(for accessor: TableAccessor) -> ObjectBase {
        let object: ObjectBase
        if let templateAddress {
            let memory = crealm_clone_object(templateAddress, instanceSize, alignmentMask)
            object = Unmanaged<ObjectBase>.fromOpaque(memory.unsafelyUnwrapped).takeRetainedValue()
        } else {
            object = info.type.init()
            for property in info.properties { property.reset(in: object, key: property.key) }
            object.tableState = state
            object.tableAccessor = accessor
        }
        if wrappersKnowOwner {
            for property in info.properties { property.remember(object) }
        }
        return object
    }

    /// An accessor that nobody holds, without a realm, to be used again.
    mutating func takeSpare() -> Unmanaged<ObjectBase>? {
        guard let address = spare else { return nil }
        spare = nil
        return Unmanaged<ObjectBase>.fromOpaque(address)
    }

    /// Takes an accessor that nobody else holds, for the next iteration.
    mutating func keepSpare(_ object: Unmanaged<ObjectBase>) {
        guard spare == nil, keepsNoCollections else { return object.release() }
        // The realm is not kept by what it keeps.
        object._withUnsafeGuaranteedRef { $0.core = nil }
        spare = object.toOpaque()
    }
}
