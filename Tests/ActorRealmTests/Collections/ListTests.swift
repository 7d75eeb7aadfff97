import Foundation
import RealmTestSupport
import Testing

@testable import ActorRealm

@Suite struct ListTests {
    @Test(arguments: [true, false]) func `a list changes like an array`(managed: Bool) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let realm = try memoryRealm()
        let object = Scalars()
        if managed { try realm.write { realm.add(object) } }
        let list = object.ints
        var model: [Int] = []
        if managed { realm.beginWrite() }
        for step in 0..<600 {
            let value = Int.random(in: -1000...1000, using: &random)
            let place = Int.random(in: 0...model.count, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1, 2:
                list.append(value)
                model.append(value)
            case 3, 4:
                list.insert(value, at: place)
                model.insert(value, at: place)
            case 5 where place < model.count:
                list.remove(at: place)
                model.remove(at: place)
            case 6 where place < model.count:
                list[place] = value
                model[place] = value
            case 7:
                let end = Int.random(in: place...model.count, using: &random)
                let new = (0..<Int.random(in: 0..<4, using: &random)).map { $0 }
                list.replaceSubrange(place..<end, with: new)
                model.replaceSubrange(place..<end, with: new)
            case 8 where !model.isEmpty:
                let other = Int.random(in: 0..<model.count, using: &random)
                let from = min(place, model.count - 1)
                list.move(from: from, to: other)
                model.insert(model.remove(at: from), at: other)
            case 9 where !model.isEmpty:
                let other = Int.random(in: 0..<model.count, using: &random)
                let from = min(place, model.count - 1)
                list.swapAt(from, other)
                model.swapAt(from, other)
            case 10 where model.count > 2:
                list.removeFirst()
                list.removeLast(1)
                model.removeFirst()
                model.removeLast()
            case 11 where model.count < 200:
                list.append(objectsIn: list)
                model.append(contentsOf: model)
            default: break
            }
            if managed, step % 97 == 0 {
                try realm.commitWrite()
                #expect(Array(list) == model, "seed \(seed)")
                realm.beginWrite()
            }
            #expect(list.count == model.count, "seed \(seed)")
        }
        #expect(Array(list) == model, "seed \(seed)")
        #expect(list.indices.map { list[$0] } == model, "seed \(seed)")
        #expect(list.index(of: 12_345) == nil)
        if let value = model.last { #expect(list.index(of: value) == model.firstIndex(of: value)) }
        list.removeAll()
        #expect(list.isEmpty && list.first == nil && list.last == nil)
        if managed { try realm.commitWrite() }
    }

    @Test func `lists of every element type come back`() throws {
        let realm = try memoryRealm()
        let object = Scalars()
        let uuid = UUID()
        object.strings.append(objectsIn: ["", nil, "æ"])
        object.doubles.append(objectsIn: [0.5, -.infinity])
        object.dates.append(Date(timeIntervalSinceReferenceDate: 3))
        object.uuids.append(uuid)
        object.blobs.append(objectsIn: [Data(), Data([1, 2])])
        object.moods.append(objectsIn: [.grumpy, .calm])
        object.bools.append(objectsIn: [true, nil, false])
        try realm.write { realm.add(object) }
        #expect(Array(object.strings) == ["", nil, "æ"])
        #expect(Array(object.doubles) == [0.5, -.infinity])
        #expect(Array(object.dates) == [Date(timeIntervalSinceReferenceDate: 3)])
        #expect(Array(object.uuids) == [uuid])
        #expect(Array(object.blobs) == [Data(), Data([1, 2])])
        #expect(Array(object.moods) == [.grumpy, .calm])
        #expect(Array(object.bools) == [true, nil, false])
    }

    @Test func `assigning a list copies its elements, to itself too`() throws {
        let realm = try memoryRealm()
        let one = Keeper(id: 1)
        let two = Keeper(id: 2)
        one.nicknames.append(objectsIn: ["a", "b"])
        try realm.write {
            realm.add([one, two])
            two.nicknames = one.nicknames
            one.nicknames = one.nicknames
        }
        #expect(Array(one.nicknames) == ["a", "b"] && Array(two.nicknames) == ["a", "b"])
        try realm.write { one.nicknames.append("c") }
        #expect(two.nicknames.count == 2)
    }

    @Test func `a loop over a list sees it as it was at the start`() throws {
        let realm = try memoryRealm()
        let keeper = Keeper(id: 1)
        for age in 0..<10 { keeper.puppies.append(Puppy(value: ["age": age])) }
        try realm.write { realm.add(keeper) }
        try realm.write {
            for puppy in keeper.puppies where puppy.age % 2 == 0 { realm.delete(puppy) }
        }
        #expect(keeper.puppies.map(\.age) == [1, 3, 5, 7, 9])
    }

    @Test func `a list is queried, sorted and summed up`() throws {
        let realm = try memoryRealm()
        let keeper = Keeper(id: 1)
        for age in [5, 3, 9, 1] { keeper.puppies.append(Puppy(value: ["age": age, "name": "p\(age)"])) }
        keeper.scores.append(objectsIn: [4, nil, 2, 9])
        try realm.write {
            realm.add(keeper)
            realm.create(Puppy.self, value: ["age": 4])
        }
        #expect(keeper.puppies.where { $0.age > 2 }.map(\.age) == [5, 3, 9])
        #expect(keeper.puppies.sorted(by: \.age).map(\.age) == [1, 3, 5, 9])
        #expect(keeper.puppies.sorted(byKeyPath: "age", ascending: false).first?.age == 9)
        #expect(keeper.puppies.sum(of: \.age) == 18)
        #expect(keeper.puppies.min(of: \.age) == 1)
        #expect(Array(keeper.scores.sorted()) == [nil, 2, 4, 9])
    }

    @Test func `an unmanaged list encodes and decodes as an array`() throws {
        let list = List<Int>()
        list.append(objectsIn: [1, 2, 3])
        let data = try JSONEncoder().encode(list)
        #expect(String(decoding: data, as: UTF8.self) == "[1,2,3]")
        #expect(Array(try JSONDecoder().decode(List<Int>.self, from: data)) == [1, 2, 3])
    }
}

@Suite struct ListOffsetsTests {
    @Test func `elements at several positions are moved and removed as in an array`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let realm = try memoryRealm()
        let object = Scalars()
        try realm.write { realm.add(object) }
        for _ in 0..<200 {
            let values = Array(0..<Int.random(in: 0...8, using: &random))
            let offsets = values.filter { _ in Bool.random(using: &random) }
            let destination = Int.random(in: 0...values.count, using: &random)
            try realm.write {
                object.ints.removeAll()
                object.ints.append(objectsIn: values)
                object.ints.move(fromOffsets: IndexSet(offsets), toOffset: destination)
            }
            let before = values[..<destination].filter { !offsets.contains($0) }
            let behind = values[destination...].filter { !offsets.contains($0) }
            #expect(Array(object.ints) == before + offsets + behind, "seed \(seed)")
            try realm.write {
                object.ints.removeAll()
                object.ints.append(objectsIn: values)
                object.ints.remove(atOffsets: IndexSet(offsets))
            }
            #expect(Array(object.ints) == values.filter { !offsets.contains($0) }, "seed \(seed)")
        }
    }
}
