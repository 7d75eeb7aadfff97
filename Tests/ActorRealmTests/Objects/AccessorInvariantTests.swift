import RealmModel
import RealmStorage
import Testing

@testable import ActorRealm

#if DEBUG
@Suite("The checks of what the accessors of a class remember")
struct AccessorInvariantTests {
    /// What a check says; nil when it finds nothing.
    private func complaint(_ check: () throws(BrokenInvariant) -> Void) -> String? {
        do throws(BrokenInvariant) { try check() } catch { return error.description }
        return nil
    }

    /// A realm with some puppies whose ages were read.
    private func makePuppies() throws -> (realm: Realm, accessor: TableAccessor, puppies: [Puppy]) {
        let realm = try memoryRealm()
        try realm.write { for age in 1..<6 { realm.create(Puppy.self, value: ["age": age]) } }
        let accessor = try #require(realm.core.accessor(for: Puppy.self))
        let puppies = Array(realm.objects(Puppy.self))
        #expect(puppies.reduce(0) { $0 + $1.age } == 15)
        #expect(complaint(accessor.checkInvariants) == nil)
        return (realm, accessor, puppies)
    }

    @Test("A column that is remembered as another one, and objects that look elsewhere, are told")
    func slots() throws {
        let (realm, accessor, puppies) = try makePuppies()
        let ordinal = try #require(accessor.info.property("age")).ordinal
        let slot = accessor.state.pointee.slots + (ordinal + 1)
        #expect(slot.pointee.leaf != nil && slot.pointee.generation == accessor.state.pointee.generation.pointee)
        slot.pointee.minimum += 1
        #expect(complaint(accessor.checkInvariants) == "The column of property \(ordinal) is remembered as another one")
        slot.pointee.minimum -= 1
        let (state, words) = (accessor.state.pointee, UnsafeMutablePointer<UInt64>.allocate(capacity: 1))
        defer { words.deallocate() }
        words.initialize(to: 0)
        accessor.state.pointee.generation = words
        #expect(complaint(accessor.checkInvariants) == "The objects of 'Puppy' look at another realm")
        accessor.state.pointee = state
        accessor.state.pointee.accessor = nil
        #expect(complaint(accessor.checkInvariants) == "The objects of 'Puppy' belong to another accessor")
        accessor.state.pointee = state
        #expect(complaint(accessor.checkInvariants) == nil)
        withExtendedLifetime((realm, puppies)) {}
    }

    @Test("Properties that are looked for elsewhere, and links that lead to another class, are told")
    func properties() throws {
        let (realm, accessor, puppies) = try makePuppies()
        let properties = accessor.properties
        accessor.properties.ordinals.swapAt(0, 1)
        #expect(complaint(accessor.checkInvariants) == "'Puppy.name' is looked for in another property")
        accessor.properties.ordinals.removeLast()
        let count = properties.ordinals.count
        #expect(
            complaint(accessor.checkInvariants) == "'Puppy' has \(count) properties, of which \(count - 1) were found"
        )
        accessor.properties = properties
        #expect(complaint(accessor.checkInvariants) == nil)
        let keepers = try #require(realm.core.accessor(for: Keeper.self))
        let favourite = try #require(keepers.info.property("favourite")).ordinal
        keepers.targets[favourite] = Unmanaged.passUnretained(accessor)
        #expect(complaint(keepers.checkInvariants) == nil)
        keepers.targets[favourite] = Unmanaged.passUnretained(keepers)
        #expect(
            complaint(keepers.checkInvariants)
                == "'Keeper.favourite' leads to objects of another class, or of another realm"
        )
        keepers.targets[favourite] = nil
        withExtendedLifetime(puppies) {}
    }

    private func complaint(of locator: borrowing RowLocator) -> String? {
        do throws(BrokenInvariant) { try locator.checkInvariants() } catch { return error.description }
        return nil
    }

    private func complaint(of columns: borrowing ColumnCache, _ ordinals: [Int]) -> String? {
        do throws(BrokenInvariant) {
            try columns.checkInvariants(ordinals, slotCount: ordinals.count + 1)
        } catch {
            return error.description
        }
        return nil
    }

    private func complaint(of recent: borrowing RecentColumns) -> String? {
        do throws(BrokenInvariant) { try recent.checkInvariants { _, _ in } } catch { return error.description }
        return nil
    }

    private func complaint(of lookups: borrowing LookupCache) -> String? {
        do throws(BrokenInvariant) { try lookups.checkInvariants() } catch { return error.description }
        return nil
    }

    @Test("A leaf of a version before that counts as one of the present version is told")
    func leaves() throws {
        let (realm, accessor, puppies) = try makePuppies()
        let table = accessor.table
        let key = try #require(try table.key(at: 0))
        var locator = RowLocator(table, isFrozen: false)
        let location = try locator.locate(key)
        #expect(location != nil)
        var told = complaint(of: locator)
        #expect(told == nil)
        let generation = table.model.generation
        let before = generation.pointee
        try realm.write { puppies[0].age = 99 }
        told = complaint(of: locator)
        #expect(told == nil, "what is of a version before is not used")
        let now = generation.pointee
        generation.pointee = before
        told = complaint(of: locator)
        generation.pointee = now
        #expect(told == "Row \(key) is remembered in another leaf")
    }

    @Test("A column that is kept for another property, or looked for elsewhere, is told")
    func columns() throws {
        let (realm, accessor, puppies) = try makePuppies()
        let table = accessor.table
        let ordinals = accessor.ordinals
        var columns = ColumnCache(table, slotCount: ordinals.count + 1)
        columns.read(ordinals)
        var told = complaint(of: columns, ordinals)
        #expect(told == nil)
        told = complaint(of: columns, ordinals.reversed())
        #expect(told == "Property 0 is looked for in another column")
        let key = try #require(try table.key(at: 0))
        let leaf = try #require(try table.locate(key)).leaf
        let age = try #require(accessor.info.property("age")).ordinal
        let name = try #require(accessor.info.property("name")).ordinal
        let view = try columns.column(UInt32(age + 1), in: leaf)
        let generation = table.model.generation.pointee
        columns.keep(view, UInt32(age + 1), leaf: leaf.base, generation: generation)
        told = complaint(of: columns, ordinals)
        #expect(told == nil)
        columns.keep(view, UInt32(name + 1), leaf: leaf.base, generation: generation)
        told = complaint(of: columns, ordinals)
        #expect(told == "The column of property \(name) is remembered as another one")
        withExtendedLifetime((realm, puppies)) {}
    }

    @Test("A column in the place of another leaf's is told")
    func recentColumns() throws {
        // One of 64 pairs of neighbours shares a place: two at the beginning of eight pages do not.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 8192, alignment: 8 * 4096)
        defer { memory.deallocate() }
        let leaves = [UnsafeRawPointer(memory), UnsafeRawPointer(memory + 4096)]
        let slots = leaves.map {
            ColumnSlot(leaf: $0, generation: 5, data: $0, nulls: nil, minimum: 0, width: 1)
        }
        var recent = RecentColumns(slotCount: 3)
        recent.keep(slots[0], 1, after: slots[1])
        var told = complaint(of: recent)
        #expect(told == nil)
        let known = recent.known(1, leaf: leaves[0], generation: 5)
        let kept = try #require(known)
        kept.pointee.leaf = leaves[1]
        told = complaint(of: recent)
        #expect(told == "A column is kept in the place of another leaf's")
    }

    @Test("Formats that ask for a property that is not there, or for another one than before, are told")
    func formats() throws {
        let (realm, accessor, puppies) = try makePuppies()
        var lookups = LookupCache(accessor.table)
        lookups.rememberEquality("age == %@", 1)
        let known = lookups.knownEquality("age == %@")
        #expect(known == 1)
        var told = complaint(of: lookups)
        #expect(told == nil)
        lookups.rememberEquality("age == %@", 0)
        told = complaint(of: lookups)
        #expect(told == "'age == %@' asked for another property before")
        var others = LookupCache(accessor.table)
        others.rememberEquality("size == %@", 99)
        told = complaint(of: others)
        #expect(told == "'size == %@' asks for property 99")
        withExtendedLifetime((realm, puppies)) {}
    }
}
#endif
