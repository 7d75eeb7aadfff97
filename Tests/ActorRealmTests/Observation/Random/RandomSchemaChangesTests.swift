import Foundation
import RealmTestSupport
import Synchronization
import Testing

@testable import ActorRealm

/// Files of random classes, which no program has, with collections and embedded objects, observed with `changes()` on
/// actors and outside, against plain arrays.
///
/// `REALM_CHANGES_ROUNDS` says how many files, and `REALM_CHANGES_SEED` where their seeds begin.
@Suite("Observed collections of random classes", .timeLimit(.minutes(60)))
struct RandomSchemaChangesTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let roundCount = environment["REALM_CHANGES_ROUNDS"].flatMap { Int($0) } ?? 4
    private static let firstSeed = environment["REALM_CHANGES_SEED"].flatMap { UInt64($0) } ?? 1
    private static var seeds: Range<UInt64> { firstSeed..<firstSeed &+ UInt64(roundCount) }

    private let directory = TemporaryDirectory()

    /// An observer, and what it was told last.
    private struct Observer {
        let collection: any PlainObserved
        let watcher: any RandomWatcher
        let isActing: Bool
        /// One time in so many it asks.
        let pace: Int
        var told: UInt64?
        var isOver = false
    }

    /// A file, who writes to it, and what it held at each version.
    private final class History {
        let writers: [Worker]
        var random: SplitMix64
        var world: PlainWorld
        var worlds: [UInt64: PlainWorld] = [:]
        private var writes: [UInt64: PlainWrites] = [:]
        private(set) var newest: UInt64 = 0

        init(seed: UInt64, path: String) async throws {
            random = SplitMix64(seed: seed)
            world = PlainWorld(classes: PlainWorld.randomClasses(&random))
            try world.makeFile(path)
            var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path), objectTypes: [])
            configuration.durability = .unflushed
            writers = [try await Worker(configuration), try await Worker(configuration)]
            var operations: [PlainOperation] = []
            var ignored = PlainWrites()
            for _ in 0..<Int.random(in: 10...50, using: &random) {
                let type = world.classes.indices.filter { !world.classes[$0].isEmbedded }.randomElement(using: &random)!
                let operation = PlainOperation.insert(world.birth(type, &random))
                world.apply(operation, &ignored)
                operations.append(operation)
            }
            for _ in 0..<40 {
                guard let operation = world.randomOperation(&random) else { continue }
                world.apply(operation, &ignored)
                operations.append(operation)
            }
            try await perform(operations, writer: 0, from: PlainWorld(classes: world.classes), PlainWrites())
        }

        /// Commits a few random operations.
        func commit() async throws {
            let before = world
            var operations: [PlainOperation] = []
            var written = PlainWrites()
            if world.count > 20, Int.random(in: 0..<40, using: &random) == 0 {
                operations.append(.deleteAll)
                world.apply(.deleteAll, &written)
            }
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                guard let operation = world.randomOperation(&random) else { continue }
                world.apply(operation, &written)
                operations.append(operation)
            }
            if operations.isEmpty { return }
            try await perform(operations, writer: .random(in: writers.indices, using: &random), from: before, written)
        }

        private func perform(
            _ operations: [PlainOperation],
            writer: Int,
            from before: PlainWorld,
            _ written: PlainWrites
        ) async throws {
            newest = try await writers[writer]
                .with { _, realm in
                    try await realm.asyncWrite {
                        var world = before
                        var ignored = PlainWrites()
                        for operation in operations {
                            world.perform(operation, in: realm)
                            world.apply(operation, &ignored)
                        }
                        // When the transaction has ended there may be newer versions, without contents.
                        return realm.core.version
                    }
                }
            worlds[newest] = world
            writes[newest] = written
        }

        /// The last version that an observer may stand on who was told of one: there are versions without contents.
        func known(_ version: UInt64) -> UInt64 { worlds.keys.filter { $0 <= version }.max()! }

        /// The first version in which an observed collection does not exist.
        func end(of collection: any PlainObserved) -> UInt64? {
            worlds.keys.filter { collection.isGone(worlds[$0]!) }.min()
        }

        /// What was written behind one version, up to another.
        func written(from old: UInt64, to new: UInt64) -> PlainWrites {
            var all = PlainWrites()
            for (version, written) in writes where version > old && version <= new {
                all.merge(written) { $0.union($1) }
            }
            return all
        }

        func isConcerned(_ collection: any PlainObserved, from old: UInt64, to new: UInt64) -> Bool {
            collection.isConcerned(from: worlds[old]!, to: worlds[new]!, written(from: old, to: new))
        }

        func keyPaths(_ type: Int) -> [String] { world.randomKeyPaths(type, &random) }

        /// A random collection, observed on one of the actors or outside.
        fileprivate func observer(_ number: Int, _ actors: [ActingWatcher]) async -> Observer {
            let collection: any PlainObserved =
                switch Int.random(in: 0..<10, using: &random) {
                case 0, 1: PlainValues.random(world, &random) ?? PlainCollection.random(world, &random)
                case 2, 3: PlainMap.random(world, &random) ?? PlainCollection.random(world, &random)
                default: PlainCollection.random(world, &random)
                }
            if let origin = collection.origin { self.world.favourites.append(origin) }
            let world = world
            let changes = await writers[0].with { _, realm in collection.changes(world, in: realm) }
            let actor = actors.randomElement(using: &random)!
            let isActing = Int.random(in: 0..<4, using: &random) > 0
            let watcher: any RandomWatcher = isActing ? actor : FreeWatcher()
            await watcher.begin(number, changes)
            return Observer(
                collection: collection,
                watcher: watcher,
                isActing: isActing,
                pace: [1, 1, 2, 5].randomElement(using: &random)!
            )
        }
    }

    private func history(_ seed: UInt64, _ name: String) async throws -> History {
        try await History(seed: seed, path: directory.path("\(name)\(seed).realm"))
    }

    /// The next change; nil at the end.
    private func next(
        _ watcher: any RandomWatcher,
        _ number: Int,
        _ comment: Comment
    ) async throws -> ToldChange? {
        try await inTime(comment) { await watcher.next(number) }
    }

    private struct Late: Error {
        let comment: Comment
    }

    /// What comes within half an hour.
    ///
    /// Nothing else is looked at after that. Other tests may keep all threads of the pool for a minute.
    private func inTime<Told: Sendable>(
        _ comment: Comment,
        _ next: @escaping @Sendable () async -> Told?
    ) async throws -> Told? {
        let task = Task { await next() }
        let watchdog = Task {
            try await Task.sleep(for: .seconds(1_800))
            task.cancel()
        }
        let told = await task.value
        watchdog.cancel()
        if case .success = await watchdog.result { throw Late(comment: comment) }
        return told
    }

    @Test("every change leads from what was told to what a plain copy holds, however seldom somebody asks")
    func asked() async throws {
        var cases = 0
        var outside = 0
        for round in 0..<Self.roundCount {
            let seed = Self.firstSeed &+ UInt64(round)
            let history = try await history(seed, "asked")
            let actors = [ActingWatcher(), ActingWatcher(), ActingWatcher()]
            var observers: [Observer] = []
            for number in 0..<14 { observers.append(await history.observer(number, actors)) }
            for step in 0..<40 {
                for _ in 0..<(step == 0 ? 0 : Int.random(in: 1...3, using: &history.random)) {
                    try await history.commit()
                }
                for number in observers.indices where !observers[number].isOver {
                    let observer = observers[number]
                    let isAsking =
                        observer.told == nil || Int.random(in: 0..<observer.pace, using: &history.random) == 0
                    guard isAsking else { continue }
                    if let told = observer.told,
                        !history.isConcerned(observer.collection, from: told, to: history.newest)
                    {
                        continue
                    }
                    let comment: Comment =
                        "seed \(seed), step \(step), observer \(number): \(observer.collection.summary)"
                    guard let told = try await next(observer.watcher, number, comment) else {
                        Issue.record("The end was told. \(comment)")
                        observers[number].isOver = true
                        continue
                    }
                    // What is left of a collection whose owner is gone stands where that existed.
                    if let version = told.version, !observer.collection.isGone(history.world) {
                        // There are versions without contents of their own, when a file shrinks.
                        #expect(version >= history.newest, comment)
                    }
                    check(told, observer, history, to: history.newest, comment)
                    cases += told.isInitial ? 0 : 1
                    outside += told.isInitial || observer.isActing ? 0 : 1
                    observers[number].told = history.newest
                    if observer.collection.isGone(history.world) {
                        #expect(try await next(observer.watcher, number, comment) == nil, comment)
                        observers[number].isOver = true
                    }
                }
            }
        }
        print("Observed random classes: \(cases) changes, \(outside) of them outside actors.")
        CampaignRecord.add("changes of results", seeds: Self.seeds, cases: cases, violations: 0)
        #expect(cases > 80 * Self.roundCount)
        #expect(outside > 5 * Self.roundCount)
    }

    @Test("so it does beside writers that nobody waits for, at everybody's own pace")
    func running() async throws {
        var cases = 0
        var skipped = 0
        for round in 0..<Self.roundCount {
            let seed = Self.firstSeed &+ UInt64(round)
            let history = try await history(seed, "running")
            let actors = [ActingWatcher(), ActingWatcher(), ActingWatcher()]
            var observers: [Observer] = []
            for number in 0..<14 { observers.append(await history.observer(number, actors)) }
            let journals = observers.map { _ in Journal<ToldChange>() }
            let ends = observers.map { _ in Journal<Void>() }
            let tasks = observers.indices.map { number in
                let (watcher, pace) = (observers[number].watcher, observers[number].pace)
                return Task {
                    while let told = await watcher.next(number) {
                        journals[number].add(told)
                        if pace > 1 { try await Task.sleep(for: .milliseconds(pace)) }
                    }
                    ends[number].add(())
                }
            }
            for _ in 0..<60 { try await history.commit() }
            let deadline = ContinuousClock.now + .seconds(1_800)
            var isComplete = true
            for number in observers.indices {
                let collection = observers[number].collection
                func isTold() -> Bool {
                    if history.end(of: collection) != nil { return !ends[number].entries.isEmpty }
                    guard let version = journals[number].entries.last?.version else { return false }
                    return !history.isConcerned(collection, from: history.known(version), to: history.newest)
                }
                // Asked once: what the newest version takes back again may be told between two questions.
                var wasTold = false
                _ = await eventually {
                    wasTold = isTold()
                    return wasTold || ContinuousClock.now > deadline
                }
                if wasTold { continue }
                isComplete = false
                Issue.record("Not everything was told. seed \(seed), observer \(number): \(collection.summary)")
            }
            for task in tasks {
                task.cancel()
                _ = await task.result
            }
            for number in observers.indices {
                var observer = observers[number]
                let entries = journals[number].entries
                let end = history.end(of: observer.collection)
                for (place, told) in entries.enumerated() {
                    let comment: Comment =
                        "seed \(seed), observer \(number), element \(place): \(observer.collection.summary)"
                    let isEnd = end != nil && place == entries.count - 1 && !told.isInitial
                    guard let version = isEnd ? end : told.version.map({ history.known($0) }) else {
                        Issue.record(comment)
                        break
                    }
                    if let before = observer.told {
                        #expect(version > before, comment)
                        #expect(history.isConcerned(observer.collection, from: before, to: version), comment)
                        cases += 1
                        if version > before + 1 { skipped += 1 }
                    }
                    check(told, observer, history, to: version, comment)
                    observer.told = version
                }
            }
            // Another round would wait as long.
            guard isComplete else { return }
        }
        print(
            "Observed random classes beside writers: \(cases) changes, \(skipped) of them over several versions."
        )
        CampaignRecord.add("changes of results beside writers", seeds: Self.seeds, cases: cases, violations: 0)
        // How many there are is up to the machine.
        #expect(cases > 0)
    }

    @Test(
        "an object's changes name every property that was written, with the values before and after, and no other one"
    )
    func objects() async throws {
        var cases = 0
        var ends = 0
        for round in 0..<Self.roundCount {
            let seed = Self.firstSeed &+ UInt64(round)
            let history = try await history(seed, "objects")
            let actor = ObjectWatcher()
            var objects: [(address: PlainAddress, keyPaths: [String]?, free: FreeObjectWatcher?, told: UInt64)] = []
            for step in 0..<40 {
                if step % 2 == 0 {
                    let type = history.world.classes.indices.randomElement(using: &history.random)!
                    if let serial = history.world.serials(type).randomElement(using: &history.random) {
                        let address = PlainAddress(type: type, serial: serial)
                        history.world.favourites.append(address)
                        let world = history.world
                        let keyPaths = Bool.random(using: &history.random) ? nil : history.keyPaths(type)
                        let changes = await history.writers[0]
                            .with { _, realm in
                                // The other writer may have been last.
                                realm.refresh()
                                return world.object(address, in: realm)!.changes(keyPaths: keyPaths)
                            }
                        let isFree = Bool.random(using: &history.random)
                        if !isFree { await actor.begin(objects.count, changes) }
                        let free = isFree ? FreeObjectWatcher(changes) : nil
                        objects.append((address, keyPaths, free, history.newest))
                    }
                }
                for _ in 0..<Int.random(in: 1...3, using: &history.random) { try await history.commit() }
                for number in objects.indices where Int.random(in: 0..<3, using: &history.random) == 0 {
                    let (address, keyPaths, free, told) = objects[number]
                    guard told > 0 else { continue }
                    let expected = history.world.change(
                        of: address,
                        keyPaths: keyPaths,
                        from: history.worlds[told]!,
                        history.written(from: told, to: history.newest)
                    )
                    if case .change(_, let properties) = expected, properties.isEmpty { continue }
                    let comment: Comment =
                        "seed \(seed), step \(step), object \(number): \(address), key paths \(keyPaths ?? [])"
                    let change = try await inTime(comment) {
                        if let free { await free.next() } else { await actor.next(number) }
                    }
                    #expect(change == expected, comment)
                    cases += 1
                    objects[number].told = history.newest
                    guard expected == .deleted else { continue }
                    ends += 1
                    objects[number].told = 0
                    let rest = try await inTime(comment) {
                        if let free { await free.next() } else { await actor.next(number) }
                    }
                    #expect(rest == nil, comment)
                }
            }
        }
        print("Observed random objects: \(cases) changes, \(ends) of them the end.")
        CampaignRecord.add("changes of objects", seeds: Self.seeds, cases: cases, violations: 0)
        #expect(cases > 6 * Self.roundCount)
        #expect(ends > Self.roundCount)
    }

    private func check(
        _ told: ToldChange,
        _ observer: Observer,
        _ history: History,
        to version: UInt64,
        _ comment: Comment
    ) {
        observer.collection.check(
            told,
            from: observer.told.map { history.worlds[$0]! },
            to: history.worlds[version]!,
            observer.told.map { history.written(from: $0, to: version) } ?? [:],
            comment
        )
    }
}
