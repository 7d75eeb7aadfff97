import RealmQuery
import Synchronization

/// The path that a key path in the text of the program stands for: found once, kept as long as the process lives.
final class KnownPath: Sendable {
    // Key paths never change; one that is held has its identifier alone.
    nonisolated(unsafe) private let keyPath: AnyKeyPath
    /// The class at which the path begins.
    let root: ObjectBase.Type
    let steps: [PropertyPath.Step]
    /// The declared ordinal, when the path is a single property; else -1.
    let declared: Int

    private init(_ keyPath: AnyKeyPath, root: ObjectBase.Type, steps: [PropertyPath.Step]) {
        self.keyPath = keyPath
        self.root = root
        self.steps = steps
        var declared = -1
        if steps.count == 1, case .property(let name) = steps[0] {
            declared = ModelClass.of(root).property(inPath: name)?.ordinal ?? -1
        }
        self.declared = declared
    }

    /// Key paths by a part of their address, to be found without a lock. Whoever is in a place stays alive.
    // Written here once; the words in it are atomic.
    nonisolated(unsafe) private static let places: UnsafeMutablePointer<Atomic<UInt>> = {
        let places = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: placeCount)
        for index in 0..<placeCount { (places + index).initialize(to: Atomic(0)) }
        return places
    }()
    private static let placeCount = 2_048

    /// So many are kept: those that stand in the text of a program are one object each, but others can be made.
    private static let limit = 1_024

    private struct Key: Hashable {
        let keyPath: ObjectIdentifier
        let type: ObjectIdentifier
    }

    private static let all = Mutex<[Key: KnownPath]>([:])

    /// The path of a key path; nil when too many are known.
    @inline(__always)
    static func of(
        _ keyPath: AnyKeyPath,
        in type: ObjectBase.Type,
        names: () -> [String]
    ) -> Unmanaged<KnownPath>? {
        let address = UInt(bitPattern: ObjectIdentifier(keyPath))
        let place = Int(bitPattern: (address &>> 4) ^ (address &>> 15)) & (placeCount &- 1)
        let word = places[place].load(ordering: .acquiring)
        if let pointer = UnsafeRawPointer(bitPattern: word) {
            let known = Unmanaged<KnownPath>.fromOpaque(pointer)
            let isSame = known._withUnsafeGuaranteedRef {
                ObjectIdentifier($0.keyPath) == ObjectIdentifier(keyPath) && $0.root == type
            }
            if isSame { return known }
        }
        return find(keyPath, in: type, place, names)
    }

    @inline(never)
    private static func find(
        _ keyPath: AnyKeyPath,
        in type: ObjectBase.Type,
        _ place: Int,
        _ names: () -> [String]
    ) -> Unmanaged<KnownPath>? {
        let key = Key(keyPath: ObjectIdentifier(keyPath), type: ObjectIdentifier(type))
        var known = all.withLock { $0[key] }
        if known == nil {
            let made = KnownPath(keyPath, root: type, steps: names().map { .property($0) })
            known = all.withLock { paths in
                if let other = paths[key] { return other }
                guard paths.count < limit else { return nil }
                paths[key] = made
                return made
            }
        }
        guard let known else { return nil }
        let reference = Unmanaged.passUnretained(known)
        places[place].store(UInt(bitPattern: reference.toOpaque()), ordering: .releasing)
        return reference
    }
}
