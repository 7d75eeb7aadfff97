import ActorRealm
import Testing

/// Sections by a property that the file calls otherwise.
@Suite struct SectionedByNameTests {
    class Renamed: Object {
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
        override class func propertiesMapping() -> [String: String] { ["name": "full_name"] }
        @Persisted var name = ""
        @Persisted var next: Renamed?
    }

    @Test func `an order by the name that the program has is one by the property`() async {
        await #expect(processExitsWith: .success) {
            let realm = try memoryRealm([Renamed.self])
            try realm.write {
                let first = realm.create(Renamed.self, value: ["name": "a"])
                for name in ["b", "b"] { realm.create(Renamed.self, value: ["name": name]).next = first }
            }
            let all = realm.objects(Renamed.self)
            for path in ["name", "full_name"] {
                let order = [SortDescriptor(keyPath: path, ascending: false)]
                #expect(all.sectioned(by: \.name, sortDescriptors: order).allKeys == ["b", "a"], "\(path)")
            }
            for path in ["next.name", "next.full_name"] {
                let order = [SortDescriptor(keyPath: path, ascending: false)]
                let keys = all.sectioned(by: \.next?.name, sortDescriptors: order).allKeys
                #expect(keys == ["a", nil], "\(path)")
            }
        }
    }

    @Test func `an order by another property ends the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try memoryRealm([Renamed.self])
            let order = [SortDescriptor(keyPath: "next.name")]
            _ = realm.objects(Renamed.self).sectioned(by: \.name, sortDescriptors: order)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("must match the primary sort descriptor"), "\(text.suffix(400))")
    }
}
