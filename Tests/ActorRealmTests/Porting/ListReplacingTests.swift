import ActorRealm
import Foundation
import Testing

/// Lists as the range-replaceable collections that RealmSwift's are, compared with arrays.
@Suite("Ranges of a list are replaced as those of an array", .timeLimit(.minutes(60)))
struct ListReplacingTests {
    let file = PortingFile()

    /// Runs a body with an unmanaged list and with a managed one.
    private func withLists(_ body: @escaping @Sendable (List<Int>) throws -> Void) throws {
        let unmanaged = List<Int>()
        try body(unmanaged)
        let configuration = file.configuration
        try onNewThread {
            let realm = try Realm(configuration: configuration)
            try realm.write {
                let harbour = Harbour(id: 1)
                realm.add(harbour, update: .modified)
                try body(harbour.numbers)
            }
        }
    }

    @Test("a range of another length is assigned")
    func assignedRanges() throws {
        try withLists { list in
            var array = Array(0..<8)
            list.append(objectsIn: array)
            list[2..<4] = [20, 21, 22, 23]
            array[2..<4] = [20, 21, 22, 23]
            #expect(Array(list) == array)
            list[1...6] = [9]
            array[1...6] = [9]
            #expect(Array(list) == array)
            list[0..<0] = [5, 6]
            array[0..<0] = [5, 6]
            #expect(Array(list) == array)
            list[3...] = []
            array[3...] = []
            #expect(Array(list) == array)
            let other = List<Int>()
            other.append(objectsIn: [1, 2, 3, 4])
            list[0..<1] = other[1..<4]
            array[0..<1] = [2, 3, 4]
            #expect(Array(list) == array)
            list[0..<2] = list[2..<5]
            array[0..<2] = array[2..<5]
            #expect(Array(list) == array)
        }
    }

    @Test("its methods are an array's")
    func methods() throws {
        try withLists { list in
            var array: [Int] = []
            func check(_ line: Int = #line) { #expect(Array(list) == array, "line \(line)") }
            list.append(contentsOf: 0..<10)
            array.append(contentsOf: 0..<10)
            check()
            list.insert(contentsOf: [30, 31], at: 3)
            array.insert(contentsOf: [30, 31], at: 3)
            check()
            list.replaceSubrange(1..<5, with: [7])
            array.replaceSubrange(1..<5, with: [7])
            check()
            list.removeSubrange(2...3)
            array.removeSubrange(2...3)
            check()
            list.removeFirst(2)
            array.removeFirst(2)
            check()
            list.removeFirst()
            array.removeFirst()
            check()
            list.removeLast()
            array.removeLast()
            check()
            list.removeLast(1)
            array.removeLast(1)
            check()
            list.append(objectsIn: [4, 5, 6, 7])
            array += [4, 5, 6, 7]
            list.removeAll { $0 % 2 == 0 }
            array.removeAll { $0 % 2 == 0 }
            check()
            list.append(contentsOf: list)
            array.append(contentsOf: array)
            check()
            list.insert(contentsOf: list, at: 1)
            array.insert(contentsOf: array, at: 1)
            check()
            list.swapAt(0, 3)
            array.swapAt(0, 3)
            check()
            list.move(from: 3, to: 0)
            array.insert(array.remove(at: 3), at: 0)
            check()
            var same = list
            same.reverse()
            array.reverse()
            check()
            same.sort()
            array.sort()
            check()
            list.reserveCapacity(100)
            list.removeAll(keepingCapacity: true)
            array.removeAll(keepingCapacity: true)
            check()
        }
    }

    @Test("joined to something with +, a list gives an array and stays as it is")
    func joined() throws {
        try withLists { list in
            list.append(objectsIn: [1, 2])
            let (behind, before) = (list + [7], [7] + list)
            #expect(type(of: behind) == [Int].self && behind == [1, 2, 7] && before == [7, 1, 2])
            #expect(Array(list) == [1, 2])
            // Lazy: the closure is called when the elements are asked for.
            #expect(type(of: list.filter { $0 > 1 }) == LazyFilterSequence<List<Int>>.self)
        }
    }

    @Test("random edits give what an array gives")
    func randomEdits() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("ListReplacingTests seed \(seed)")
        try withLists { list in
            var generator = Generator(state: seed)
            var array: [Int] = []
            for step in 0..<300 {
                let lower = Int.random(in: 0...array.count, using: &generator)
                let upper = Int.random(in: lower...array.count, using: &generator)
                let new = (0..<Int.random(in: 0...5, using: &generator)).map { step * 10 + $0 }
                switch Int.random(in: 0..<4, using: &generator) {
                case 0:
                    list[lower..<upper] = new
                    array.replaceSubrange(lower..<upper, with: new)
                case 1:
                    list.replaceSubrange(lower..<upper, with: new)
                    array.replaceSubrange(lower..<upper, with: new)
                case 2:
                    list.insert(contentsOf: new, at: lower)
                    array.insert(contentsOf: new, at: lower)
                default:
                    let range = lower..<min(upper, lower + 3)
                    list.removeSubrange(range)
                    array.removeSubrange(range)
                }
                try #require(Array(list) == array, "seed \(seed), step \(step)")
            }
        }
    }

    @Test("a list takes its own lists as they were, also one that lies in a value")
    func ownLists() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write { realm.create(Crate.self, value: ["id": 1]) }
        func lists(_ numbers: [Int]) -> [AnyRealmValue] { numbers.map { .fromArray([.int($0)]) } }
        func numbers(_ list: List<AnyRealmValue>) -> [[Int]] {
            Array(list).map { value in Array(value.listValue!).map { $0.intValue! } }
        }
        try realm.write { crate.value = .fromArray([]) }
        for list in [crate.values, crate.value.listValue!] {
            try realm.write {
                list.append(objectsIn: lists([1, 2]))
                list.insert(contentsOf: list, at: 0)
            }
            #expect(numbers(list) == [[1], [2], [1], [2]])
            try realm.write {
                list.removeAll()
                list.append(objectsIn: lists([1, 2, 3, 4]))
                list.replaceSubrange(0..<2, with: [list[1], list[0]])
            }
            #expect(numbers(list) == [[2], [1], [3], [4]])
            try realm.write { list[0..<2] = list[1..<3] }
            #expect(numbers(list) == [[1], [3], [3], [4]])
            var sorted = list
            func isGreater(_ one: AnyRealmValue, _ other: AnyRealmValue) -> Bool {
                one.listValue![0].intValue! > other.listValue![0].intValue!
            }
            try realm.write { sorted.sort(by: isGreater) }
            #expect(numbers(list) == [[4], [3], [3], [1]])
            try realm.write { sorted[0..<4].sort { isGreater($1, $0) } }
            #expect(numbers(list) == [[1], [3], [3], [4]])
            try realm.write {
                list.removeAll()
                list.append(objectsIn: lists([1, 2, 3, 4]))
                sorted[0..<4].reverse()
            }
            #expect(numbers(list) == [[4], [3], [2], [1]])
            try realm.write { sorted[1...].swapAt(1, 3) }
            #expect(numbers(list) == [[4], [1], [2], [3]])
            try realm.write { sorted[1..<4].reverse() }
            #expect(numbers(list) == [[4], [3], [2], [1]])
            var generator = Generator(state: 7)
            for _ in 0..<20 {
                try realm.write { sorted[1..<4].shuffle(using: &generator) }
                #expect(numbers(list)[0] == [4] && numbers(list).flatMap { $0 }.sorted() == [1, 2, 3, 4])
                try realm.write { sorted[0..<3].shuffle() }
                #expect(numbers(list)[3] != [4] && numbers(list).flatMap { $0 }.sorted() == [1, 2, 3, 4])
                try realm.write { list.swapAt(0, numbers(list).firstIndex(of: [4])!) }
            }
        }
    }

    @Test("sorting exchanges what Swift takes for equal and what is stored otherwise")
    func equalInSwift() throws {
        let realm = try memoryRealm(crateTypes)
        let crate = try realm.write { realm.create(Crate.self, value: ["id": 1]) }
        func bytes(_ value: AnyRealmValue) -> [UInt8] { Array((value.stringValue ?? "").utf8) }
        func isMinus(_ value: AnyRealmValue) -> Bool { value.doubleValue?.sign == .minus }
        try realm.write { crate.value = .fromArray([]) }
        for list in [crate.values, crate.value.listValue!] {
            var sorted = list
            try realm.write {
                list.append(objectsIn: [.string("\u{E9}"), .string("e\u{301}")])
                sorted.sort { bytes($0).lexicographicallyPrecedes(bytes($1)) }
            }
            #expect(Array(list).map { bytes($0) } == [[0x65, 0xCC, 0x81], [0xC3, 0xA9]])
            try realm.write {
                list.removeAll()
                list.append(objectsIn: [.double(0), .double(-0.0)])
                sorted.sort { isMinus($0) && !isMinus($1) }
            }
            #expect(Array(list).map { isMinus($0) } == [true, false])
        }
    }

    @Test("Embedded objects are sorted where they are, in a list and in a range of it")
    func sortingEmbedded() throws {
        let realm = try memoryRealm()
        let keeper = try realm.write { realm.create(Keeper.self, value: ["id": 1]) }
        try realm.write {
            for price in [3, 1, 4, 2] {
                let toy = Toy()
                toy.price = price
                keeper.toys.append(toy)
            }
        }
        let first = keeper.toys[0]
        var toys = keeper.toys
        func prices() -> [Int] { Array(toys).map(\.price) }
        try realm.write { toys.sort { $0.price < $1.price } }
        #expect(prices() == [1, 2, 3, 4])
        #expect(!first.isInvalidated && first.price == 3)
        try realm.write { toys[1...].sort { $0.price > $1.price } }
        #expect(prices() == [1, 4, 3, 2])
        let border = try realm.write { toys.partition { $0.price < 3 } }
        #expect(border == 2 && Set(prices().prefix(2)) == [3, 4])
        // What is new goes to its place, and what it replaces goes with it.
        let fourth = Array(toys).first { $0.price == 4 }
        let fifth = Toy()
        fifth.price = 5
        try realm.write {
            toys.sort { $0.price < $1.price }
            _ = toys.withContiguousMutableStorageIfAvailable { elements in
                elements[3] = elements[0]
                elements[0] = fifth
            }
        }
        #expect(prices() == [5, 2, 3, 1])
        #expect(fourth?.isInvalidated == true && !first.isInvalidated)
    }

    @Test("observers of a managed list are told of the range")
    func observed() async throws {
        let configuration = file.configuration
        let queue = DispatchQueue(label: "list")
        let (changes, continuation) = AsyncStream.makeStream(of: String.self)
        let token = try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            try realm.write {
                let harbour = Harbour(id: 1)
                harbour.numbers.append(objectsIn: 0..<6)
                realm.add(harbour)
            }
            return realm.objects(Harbour.self)[0].numbers
                .observe { change in
                    if case .update(_, let deletions, let insertions, let modifications) = change {
                        continuation.yield("\(deletions) \(insertions) \(modifications)")
                    } else {
                        continuation.yield("initial")
                    }
                }
        }
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next() == "initial")
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            try realm.write { realm.objects(Harbour.self)[0].numbers[2..<4] = [7, 8, 9] }
        }
        #expect(await iterator.next() == "[2, 3] [2, 3, 4] []")
        token.invalidate()
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }
}
