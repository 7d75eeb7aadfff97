import CLMDB
import People

/// Dogs and owners in LMDB: a tree of each, and one that has the dogs of an owner as its values.
final class LMDBKennel: Kennel {
    private static let (owners, dogs, dogsByOwner) = (0, 1, 2)

    private let store: LMDBStore

    init(_ path: String) throws {
        store = try LMDBStore(path, isDurable: false, trees: [0, 0, MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP])
    }

    func insert(owners: Int, dogs: Int) throws {
        try store.write { transaction in
            for id in 0..<owners {
                try withUnsafeBytes(of: PersonData(id).age) {
                    try transaction.put(id, $0, in: Self.owners, MDB_APPEND)
                }
            }
            for id in 0..<dogs {
                try withUnsafeBytes(of: (id % 20, id % owners)) {
                    try transaction.put(id, $0, in: Self.dogs, MDB_APPEND)
                }
            }
            for owner in 0..<owners {
                for dog in stride(from: owner, to: dogs, by: owners) {
                    try withUnsafeBytes(of: dog) {
                        try transaction.put(owner, $0, in: Self.dogsByOwner, MDB_APPENDDUP)
                    }
                }
            }
        }
    }

    func sumOfOwnerAges() throws -> Int {
        var sum = 0
        try store.read { transaction in
            try transaction.forEach(in: Self.dogs) { _, dog in
                let owner = dog.loadUnaligned(fromByteOffset: 8, as: Int.self)
                sum &+= try transaction.get(owner, in: Self.owners)?.loadUnaligned(as: Int.self) ?? 0
            }
        }
        return sum
    }

    func sumOfDogAges() throws -> Int {
        var sum = 0
        try store.read { transaction in
            var owners: [Int] = []
            try transaction.forEach(in: Self.owners) { owner, _ in owners.append(owner) }
            try transaction.forEachValue(of: owners, in: Self.dogsByOwner) { dog in
                sum &+= try transaction.get(dog, in: Self.dogs)?.loadUnaligned(as: Int.self) ?? 0
            }
        }
        return sum
    }
}
