import RealmStorage
import RealmTestSupport
import Testing

@Suite struct SequenceTreeTests {
    /// How a random workload chooses positions and sizes.
    enum Workload: CaseIterable, Sendable {
        case numbers, anySize, growing, front

        func position(_ count: Int, _ random: inout SplitMix64) -> Int {
            switch self {
            case .growing: Int.random(in: 0..<4, using: &random) > 0 ? count : Int.random(in: 0...count, using: &random)
            case .front: Int.random(in: 0...min(count, 3), using: &random)
            default: Int.random(in: 0...count, using: &random)
            }
        }

        func element(_ random: inout SplitMix64) -> [UInt8] {
            let sizes = [0, 1, 30, 300, 900, 1023, 1024, 1025, 6000]
            let size = self == .anySize ? sizes.randomElement(using: &random) ?? 0 : 8
            return [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: size)
        }
    }

    @Test(arguments: Workload.allCases)
    func `random operations agree with an array, and old snapshots stay as they were`(workload: Workload) throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let store = try TreeFile()
        var model: [[UInt8]] = []
        var kept: [(snapshot: Snapshot, model: [[UInt8]])] = []
        for round in 0..<12 {
            let removalShare = [1, 2, 8][round % 3]
            let snapshot = try store.write { transaction in
                var tree = SequenceTree(root: transaction.catalog.root)
                for _ in 0..<300 {
                    let position = workload.position(model.count, &random)
                    let element = workload.element(&random)
                    let choice = Int.random(in: 0..<10, using: &random)
                    if choice < removalShare, position < model.count {
                        try tree.remove(at: position, in: transaction)
                        model.remove(at: position)
                    } else if choice == 9, position < model.count {
                        try tree.replace(position, element, in: transaction)
                        model[position] = element
                    } else {
                        try tree.insert(element, position, in: transaction)
                        model.insert(element, at: position)
                    }
                }
                try tree.verify(in: transaction.view)
                #expect(try tree.elements(in: transaction.view) == model, "seed \(seed)")
                try tree.seal(in: transaction)
                transaction.catalog = ByteTree(root: tree.root)
            }
            let tree = SequenceTree(root: snapshot.catalog.root)
            try tree.verify(in: snapshot.view)
            #expect(try tree.count(in: snapshot.view) == model.count, "seed \(seed)")
            for _ in 0..<min(20, model.count) {
                let index = Int.random(in: 0..<model.count, using: &random)
                #expect(try [UInt8](tree.element(at: index, in: snapshot.view)) == model[index], "seed \(seed)")
            }
            var audit = try SpaceAudit(snapshot)
            for page in try tree.pages(in: snapshot.view) { try audit.enter(page) }
            try audit.finish()
            if round % 3 == 0 { kept.append((snapshot, model)) }
        }
        for (snapshot, model) in kept {
            #expect(try SequenceTree(root: snapshot.catalog.root).elements(in: snapshot.view) == model, "seed \(seed)")
        }
    }

    @Test func `a long sequence grows by appending, into full pages, and shrinks to nothing`() throws {
        let store = try TreeFile()
        let count: UInt64 = 60_000
        var tree = SequenceTree()
        var snapshot = try store.write { transaction in
            for number in 0..<count { try tree.insert(number.key, Int(number), in: transaction) }
            try tree.verify(in: transaction.view)
            try tree.seal(in: transaction)
            transaction.catalog = ByteTree(root: tree.root)
        }
        #expect(try tree.pages(in: snapshot.view).count <= Int(count) * 12 / 4064 + 6)
        for index in stride(from: 0, to: Int(count), by: 997) {
            #expect(try [UInt8](tree.element(at: index, in: snapshot.view)) == UInt64(index).key)
        }
        var next: UInt64 = 20_000
        try tree.forEach(in: 20_000..<20_700, view: snapshot.view) { index, element in
            #expect(index == Int(next) && [UInt8](element) == next.key)
            next += 1
        }
        #expect(next == 20_700)
        snapshot = try store.write { transaction in
            for step in 0..<Int(count) {
                let left = Int(count) - step
                try tree.remove(at: step % 3 == 0 ? 0 : step % 3 == 1 ? left - 1 : left / 2, in: transaction)
                if step % 10_000 == 0 { try tree.verify(in: transaction.view) }
            }
            transaction.catalog = ByteTree(root: tree.root)
        }
        #expect(tree.isEmpty)
        try SpaceAudit(snapshot).finish()
    }

    @Test func `inner pages are divided and joined where elements come and go in the middle`() throws {
        let store = try TreeFile()
        var tree = SequenceTree()
        var model: [[UInt8]] = []
        let snapshot = try store.write { transaction in
            for number in UInt64(0)..<1_500 {
                let element = number.key + [UInt8](repeating: 7, count: 900)
                try tree.insert(element, model.count / 2, in: transaction)
                model.insert(element, at: model.count / 2)
            }
            try tree.verify(in: transaction.view)
            #expect(try tree.elements(in: transaction.view) == model)
            while model.count > 100 {
                try tree.remove(at: model.count / 3, in: transaction)
                model.remove(at: model.count / 3)
                if model.count % 200 == 0 {
                    try tree.verify(in: transaction.view)
                    #expect(try tree.elements(in: transaction.view) == model)
                }
            }
            try tree.seal(in: transaction)
            transaction.catalog = ByteTree(root: tree.root)
        }
        #expect(try tree.elements(in: snapshot.view) == model)
    }

    @Test func `removeAll frees every page, the overflow runs included`() throws {
        let store = try TreeFile()
        let snapshot = try store.write { transaction in
            var tree = SequenceTree()
            for number in 0..<400 {
                try tree.insert([UInt8](repeating: 1, count: number % 40 == 0 ? 9000 : 100), number, in: transaction)
            }
            try tree.removeAll(in: transaction)
            #expect(try tree.count(in: transaction.view) == 0)
            transaction.catalog = ByteTree(root: tree.root)
        }
        try SpaceAudit(snapshot).finish()
    }

    @Test func `an empty sequence has nothing to walk`() throws {
        let store = try TreeFile()
        let snapshot = try store.write { _ in }
        let tree = SequenceTree()
        #expect(try tree.elements(in: snapshot.view).isEmpty)
        try tree.forEach(in: 0..<0, view: snapshot.view) { _, _ in Issue.record("there is no element") }
        try tree.verify(in: snapshot.view)
    }

    @Test func `a position beyond the end stops the program with a sentence`() async {
        await #expect(processExitsWith: .failure) {
            let store = try TreeFile()
            let snapshot = try store.write { _ in }
            _ = try SequenceTree().element(at: 0, in: snapshot.view)
        }
    }
}

extension SequenceTree {
    mutating func insert(_ element: [UInt8], _ index: Int, in transaction: WriteTransaction) throws {
        try element.withUnsafeBytes { try insert($0, at: index, in: transaction) }
    }

    mutating func replace(_ index: Int, _ element: [UInt8], in transaction: WriteTransaction) throws {
        try element.withUnsafeBytes { try replace(at: index, with: $0, in: transaction) }
    }

    func elements(in view: PageView) throws -> [[UInt8]] {
        var result: [[UInt8]] = []
        var cursor = cursor(in: view)
        while let element = try cursor.next() { result.append([UInt8](element)) }
        return result
    }

    func pages(in view: PageView) throws -> [PageReference] {
        var pages: [PageReference] = []
        try forEachPage(in: view) { pages.append($0) }
        return pages
    }
}
