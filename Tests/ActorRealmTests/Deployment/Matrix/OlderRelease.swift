import RealmTestSupport

@testable import ActorRealm

/// The program of the older release, which keeps its realm open.
actor OlderRelease {
    private let plan: ReleaseCase
    private let program: ReleaseProgram
    private var realm: Realm!
    private var transaction: Realm.AsyncTransaction?
    private var frozen: Frozen<Realm>?
    private var itemReference: (any Sendable)?
    private(set) var checks = 0
    private(set) var violations: [String] = []

    /// What an observer saw last.
    enum Ending: String, Sendable { case error, seen, ended }

    /// Whether the realm was opened for reading only, so that it stays at its version.
    private var isReadOnly: Bool { realm.configuration.readOnly }

    init(_ plan: ReleaseCase, path: String, readOnly: Bool) async throws {
        self.plan = plan
        let program = ReleaseProgram(plan.before)
        self.program = program
        realm = try await Realm(configuration: program.configuration(path, version: 1), actor: self)
        let realm = realm!
        try realm.write {
            program.fill(realm, with: plan.world)
            realm.create(ReleaseScores.self, value: ["scores": ["older": 1]])
            guard plan.before.hasInverse else { return }
            let dog = realm.create(ReaderModels.Dog.self, value: ["name": "dog", "age": 3])
            realm.create(ReaderModels.Owner.self, value: ["name": "owner", "dogs": [dog]])
        }
        if readOnly {
            realm.close()
            var configuration = program.configuration(path, version: 1)
            configuration.readOnly = true
            self.realm = try await Realm(configuration: configuration, actor: self)
        }
        frozen = self.realm.frozen
    }

    private func check(_ holds: Bool, _ what: @autoclosure () -> String) {
        checks += 1
        if !holds { violations.append("\(plan.description): \(what())") }
    }

    func isOutdated() -> Bool { realm.isOutdated }

    // MARK: Reading

    /// Reads everything in every way, and compares it to what it has to be.
    func read(_ expected: ReleaseWorld, _ when: String) {
        let lines = program.world(of: realm).lines
        check(lines == expected.lines, "\(when): \(difference(lines, expected.lines))")
        let items = expected.classes["Item"] ?? [:]
        let limit = 1_003
        let count = query("\(program.slot("m", of: "Item")) > \(limit)")
        check(count == items.keys.count { $0 + 1_000 > limit }, "\(when): query found \(count)")
        for number in [1, 2, 999] {
            let found = program.object("Item", number, in: realm).map { program.row($0, plan.before["Item"]!) }
            check(found == items[number], "\(when): item \(number) is \(found.map { "\($0)" } ?? "nil")")
            guard plan.before["Item"]?.key == "n", let type = program.types["Item"] as? Object.Type else { continue }
            let keyed = realm.object(ofType: type, forPrimaryKey: number)
            check((keyed != nil) == (items[number] != nil), "\(when): look-up of \(number)")
        }
        if let frozen {
            let lines = program.world(of: frozen.value).lines
            check(lines == plan.world.lines, "\(when): frozen: \(difference(lines, plan.world.lines))")
        }
        if plan.before.hasInverse {
            check(realm.objects(ReaderModels.Dog.self).first?.owners.count == 1, "\(when): inverse")
        }
    }

    private func query(_ predicate: String) -> Int {
        func count<Model: ShapedObject>(_ type: Model.Type) -> Int { realm.objects(type).filter(predicate).count }
        return program.types["Item"].map { count($0) } ?? 0
    }

    private func difference(_ found: [String], _ expected: [String]) -> String {
        let missing = expected.filter { !found.contains($0) }
        let wrong = found.filter { !expected.contains($0) }
        return "found \(wrong), not \(missing)"
    }

    /// Moves on, or stays.
    func refresh(_ expected: ReleaseWorld) async {
        // It says that it is read-only, and does not change: nothing that it reads is gone.
        if isReadOnly {
            check(!realm.isOutdated, "read-only: isOutdated")
            return read(plan.world, "read-only, after the change")
        }
        let isMoved = realm.refresh()
        if !plan.fits {
            check(!isMoved, "refresh")
            check(await realm.asyncRefresh() == false, "asyncRefresh")
        }
        check(realm.isOutdated == !plan.fits, "isOutdated is \(realm.isOutdated)")
        read(expected, "after the change")
        if !plan.fits {
            // Not by its frozen copy, which stays at a version of its own.
            frozen = nil
            let place = realm.activeVersions.contains {
                $0.version == realm.version && $0.openedAt.contains { $0.contains("OlderRelease.swift") }
            }
            check(place, "activeVersions does not name the place")
        }
    }

    /// Has a realm that only reads look for a newer version, which no call of its program does: it comes to one that it can read, or
    /// is outdated and stays.
    func follow(_ newest: ReleaseWorld) {
        let isMoved = (try? realm.core.advanceToNewest()) ?? !plan.fitsReaders
        check(isMoved == plan.fitsReaders, "read-only: moved: \(isMoved)")
        check(realm.isOutdated == !plan.fitsReaders, "read-only, moving: isOutdated is \(realm.isOutdated)")
        read(plan.fitsReaders ? newest : plan.world, "read-only, moving")
    }

    // MARK: References

    func takeReferences() {
        func take<Model: ShapedObject>(_ type: Model.Type) -> any Sendable {
            ThreadSafeReference(to: realm.objects(type))
        }
        itemReference = program.types["Item"].map { take($0) }
    }

    func resolveReferences(_ everything: ReleaseWorld) {
        let expected = isReadOnly ? plan.world : everything
        func resolve<Model: ShapedObject>(_ type: Model.Type) -> Int? {
            guard let reference = itemReference as? ThreadSafeReference<Results<Model>> else { return nil }
            return realm.resolve(reference)?.count
        }
        let count = program.types["Item"].flatMap { resolve($0) }
        check(count == expected.classes["Item"]?.count, "a reference has \(count.map { "\($0)" } ?? "no") objects")
    }

    // MARK: Writing

    private func create(_ number: Int) { program.create("Item", plan.row(number, of: plan.before), in: realm) }

    func begin(_ number: Int) async throws {
        transaction = try await realm.beginAsyncWrite()
        create(number)
    }

    func commit() async throws {
        try await transaction?.commit()
        transaction = nil
    }

    /// Writes; the code of the error that it throws, or nil.
    func write(_ number: Int, form: Int) async -> Realm.Error.Code? {
        do {
            switch form {
            case 0: try realm.write { create(number) }
            case 1: try await realm.asyncWrite { create(number) }
            case 2:
                try await begin(number)
                try await commit()
            default:
                realm.beginWrite()
                create(number)
                try realm.commitWrite()
            }
            return nil
        } catch {
            return (error as? Realm.Error)?.code ?? .fail
        }
    }

    /// Deletes a keeper, which the delete rule in force may deny.
    private func deleteKeeper(_ number: Int, _ world: inout ReleaseWorld) {
        var code: Realm.Error.Code?
        do {
            try realm.write { ReleaseKeeper.delete(number, plan.before.rule, in: realm) }
        } catch {
            code = (error as? Realm.Error)?.code ?? .fail
        }
        let expected: Realm.Error.Code?
        if isReadOnly {
            expected = .readOnly
        } else if !plan.fits {
            expected = .schemaOutdated
        } else {
            expected = plan.ruleInForce == .deny ? .deletionDenied : nil
        }
        check(code == expected, "the deletion of a keeper ended with \(code.map { "\($0)" } ?? "success")")
        if expected == nil { world.deleteKeeper(number, by: plan.ruleInForce) }
    }

    /// Writes in every form that throws.
    func writeEverywhere(_ world: inout ReleaseWorld) async {
        deleteKeeper(1, &world)
        if isReadOnly {
            for form in 0..<3 {
                let code = await write(70 + form, form: form)
                check(code == .readOnly, "read-only: write \(form) ended with \(code.map { "\($0)" } ?? "success")")
            }
            check(!realm.isOutdated, "read-only: isOutdated after its writes")
            return
        }
        for form in 0..<(plan.fits ? 4 : 3) {
            let code = await write(70 + form, form: form)
            if plan.fits {
                check(code == nil, "write \(form) threw \(code.map { "\($0)" } ?? "")")
                world.classes["Item"]?[70 + form] = plan.row(70 + form, of: plan.before)
            } else {
                check(code == .schemaOutdated, "write \(form) ended with \(code.map { "\($0)" } ?? "success")")
            }
        }
    }

    // MARK: Observing

    /// Observes items, an item and the realm; each ends with an error, or when it has seen what the later release writes last.
    ///
    /// A map, too; and each of them once more by a block. A read-only realm has no observers.
    func observe() -> [Task<Ending, Never>] {
        guard !isReadOnly, let type = program.types["Item"] else { return [] }
        return [items(type), item(type), whole(), map()] + blocks(type)
    }

    private func map() -> Task<Ending, Never> {
        guard let scores = realm.objects(ReleaseScores.self).first?.scores else { return Task { .ended } }
        var iterator = scores.changes().makeAsyncIterator()
        return Task {
            while let change = await iterator.next() {
                if case .error = change { return await iterator.next() == nil ? .error : .ended }
                if change.collection?["later"] == 90 { return .seen }
            }
            return .ended
        }
    }

    // MARK: Blocks

    private var tokens: [NotificationToken] = []
    /// What blocks were called with after their error.
    private let lateCalls = Counter()

    private func blocks<Model: ShapedObject>(_ type: Model.Type) -> [Task<Ending, Never>] {
        let slot = program.slot("n", of: "Item")
        var all = [
            ending { tell in
                realm.objects(type)
                    .observe { change in
                        switch change {
                        case .error: tell(.error)
                        case .initial(let items), .update(let items, _, _, _):
                            tell(items.contains { $0[slot] as? Int == 90 } ? .seen : nil)
                        }
                    }
            },
            ending { [program] tell in
                realm.observe { _, realm in
                    tell(realm.isOutdated ? .error : program.object("Item", 90, in: realm) == nil ? nil : .seen)
                }
            },
        ]
        if let object = program.object("Item", 1, in: realm) as? Model {
            all.append(
                ending { tell in
                    object.observe { change in
                        switch change {
                        case .error: tell(.error)
                        case .change: tell(.seen)
                        case .deleted: tell(.ended)
                        }
                    }
                }
            )
        }
        if let scores = realm.objects(ReleaseScores.self).first?.scores {
            all.append(
                ending { tell in
                    scores.observe { change in
                        switch change {
                        case .error: tell(.error)
                        case .initial(let scores), .update(let scores, _, _, _):
                            tell(scores["later"] == 90 ? .seen : nil)
                        }
                    }
                }
            )
        }
        return all
    }

    /// What a block is told last; it counts what comes after an error.
    private func ending(_ observe: (@escaping (Ending?) -> Void) -> NotificationToken) -> Task<Ending, Never> {
        let (stream, told) = AsyncStream<Ending>.makeStream()
        let failures = Counter()
        let late = lateCalls
        tokens.append(
            observe { ending in
                if failures.value > 0 { late.increment() }
                guard let ending else { return }
                if ending == .error { failures.increment() }
                told.yield(ending)
            }
        )
        return Task {
            for await ending in stream { return ending }
            return .ended
        }
    }

    private func items<Model: ShapedObject>(_ type: Model.Type) -> Task<Ending, Never> {
        var iterator = realm.objects(type).changes().makeAsyncIterator()
        let slot = program.slot("n", of: "Item")
        return Task {
            while let change = await iterator.next() {
                if case .error = change { return await iterator.next() == nil ? .error : .ended }
                if change.collection?.contains(where: { $0[slot] as? Int == 90 }) == true { return .seen }
            }
            return .ended
        }
    }

    private func item<Model: ShapedObject>(_ type: Model.Type) -> Task<Ending, Never> {
        guard let object = program.object("Item", 1, in: realm) as? Model else { return Task { .ended } }
        var iterator = object.changes().makeAsyncIterator()
        return Task {
            while let change = await iterator.next() {
                switch change {
                case .error: return await iterator.next() == nil ? .error : .ended
                case .change: return .seen
                case .deleted: return .ended
                }
            }
            return .ended
        }
    }

    private func whole() -> Task<Ending, Never> {
        var iterator = realm.changes.makeAsyncIterator()
        return Task {
            while let change = await iterator.next() {
                if change.isOutdated { return await iterator.next() == nil ? .error : .ended }
                if realm.refresh() || true, program.object("Item", 90, in: realm) != nil { return .seen }
            }
            return .ended
        }
    }

    func close() {
        check(lateCalls.value == 0, "a block was called \(lateCalls.value) times after its error")
        for token in tokens { token.invalidate() }
        tokens = []
        frozen = nil
        realm.close()
    }
}
