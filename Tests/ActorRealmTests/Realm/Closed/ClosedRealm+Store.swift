import ActorRealm
import Foundation
import RealmTestSupport
import Testing

extension ClosedRealm {
    /// An actor with a realm that is closed under what was reached from it.
    ///
    /// Each suite extends it by its calls, each with its name: what traps ends the process that runs it, behind the name.
    actor Store {
        typealias Chest = ClosedRealm.Chest
        typealias Lid = ClosedRealm.Lid

        var realm: Realm!
        var held: Held!
        var told = 0
        var token: NotificationToken?
        private let file = TestFile()

        init(_ kind: Kind) async throws {
            var configuration = file.fast
            if kind == .memory { configuration.inMemoryIdentifier = UUID().uuidString }
            configuration.objectTypes = [Chest.self, Lid.self]
            realm = try await Realm(configuration: configuration, actor: self)
        }

        func prepare() throws {
            let realm: Realm = realm
            let (chest, other) = try realm.write {
                let other = realm.create(Chest.self, value: ["id": 2, "name": "other"])
                let chest = realm.create(
                    Chest.self,
                    value: [
                        "id": 1, "mood": Mood.grumpy, "size": 2.5, "note": "n", "amount": 3, "any": [1, ["a": 2]],
                        "names": ["a", "b"], "tags": ["t"], "sizes": ["l": 3], "lid": ["color": "blue"],
                        "lids": [[:]], "next": other, "inner": [other], "weight": 1.5, "level": 9,
                        "notes": ["n"], "days": [Date()], "codes": [UUID()], "keys": [ObjectId.generate()],
                        "moods": [Mood.grumpy], "prices": [7], "places": [["color": "blue"]], "anys": [1, "a"],
                        "friends": [other], "mates": ["o": other], "dates": ["d": Date()],
                    ]
                )
                return (chest, other)
            }
            let all = realm.objects(Chest.self)
            let names = chest.names
            var loop = all.makeIterator()
            _ = loop.next()
            var values = names.makeIterator()
            _ = values.next()
            let sections = all.sectioned(by: \.name)
            var sectionLoop = sections.makeIterator()
            _ = sectionLoop.next()
            let section = sections[0]
            var rowLoop = section.makeIterator()
            _ = rowLoop.next()
            let projected = all.projectTo.name
            var projectedLoop = projected.makeIterator()
            _ = projectedLoop.next()
            let labels = realm.objects(Label.self)
            held = Held(
                realm: realm,
                chest: chest,
                other: other,
                lid: chest.lid!,
                dynamic: realm.dynamicObject(ofType: "Chest", forPrimaryKey: 1)!,
                all: all,
                some: all.where { $0.name == "chest" },
                sorted: all.filter("size > 1").sorted(byKeyPath: "name"),
                sections: sections,
                names: names,
                inner: chest.inner,
                tags: chest.tags,
                sizes: chest.sizes,
                before: other.before,
                nested: chest.any.listValue!,
                loop: loop,
                values: values,
                frozen: chest.freeze(),
                frozenAll: all.freeze(),
                section: section,
                friends: chest.friends,
                labels: labels,
                label: labels[0],
                projected: projected,
                innerNames: chest.inner.projectTo.name,
                slice: all[0..<2],
                sectionSlice: sections[0..<2],
                rowSlice: section[0..<1],
                projectedSlice: projected[0..<2],
                dynamicAll: realm.dynamicObjects("Chest"),
                sectionLoop: sectionLoop,
                rowLoop: rowLoop,
                projectedLoop: projectedLoop
            )
            token = all.observe { [weak self] _ in self?.assumeIsolated { $0.told += 1 } }
        }

        func close() { realm.close() }

        func at(_ name: String) { FileHandle.standardError.write(Data("at \(name)\n".utf8)) }

        func expectEmpty(_ name: String, _ isEmpty: Bool) {
            if !isEmpty { Issue.record("\(name) finds something") }
        }

        func expectClosed(_ name: String, _ body: () throws -> Void) {
            at(name)
            let error = #expect(throws: Realm.Error.self, "\(name)") { try body() }
            #expect(error?.code == .closed, "\(name): \(error.map { "\($0)" } ?? "no error")")
        }
    }
}
