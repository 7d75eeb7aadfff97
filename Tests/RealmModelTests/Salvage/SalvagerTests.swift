import Foundation
import RealmModel
import RealmTestSupport
import Testing

@testable import RealmStorage

/// What can be read of a damaged file is in the new one, and the report says what is not.
@Suite struct SalvagerTests {
    /// A whole file, which no test changes: each damages copies, under names of its own.
    private struct Whole: @unchecked Sendable {
        let sample: SampleDatabase
        let rows: [Int64: [String]]
        let runs: [PageKind: [PageReference]]

        init() throws {
            sample = try SampleDatabase()
            rows = try SampleDatabase.describe(ModelView(snapshot: StorageFile.open(path: sample.path).beginRead()))
            runs = try sample.runs()
        }
    }

    private static let whole = Result { try Whole() }
    private let sample: SampleDatabase
    private let original: [Int64: [String]]
    private let runs: [PageKind: [PageReference]]

    init() throws {
        let whole = try Self.whole.get()
        (sample, original, runs) = (whole.sample, whole.rows, whole.runs)
    }

    /// Damages pages of a copy and salvages it; compares what came out with what was in, and with the report.
    @discardableResult
    private func salvage(_ pages: [PageNumber], _ name: String, _ what: String) throws -> SalvageReport {
        let damaged = sample.directory.path("damaged-\(name).realm")
        let result = sample.directory.path("salvaged-\(name).realm")
        try FileManager.default.copyItem(atPath: sample.path, toPath: damaged)
        for page in pages { try PageEditor(path: damaged).damage(page: page) }
        var report: SalvageReport?
        let file = try DamagedFile(path: damaged)
        try StorageFile.build(at: result, replaces: false, beginning: FileBeginning(version: file.roots[0].version)) {
            report = try Salvager.salvage(file, to: $0)
        }
        let found = try #require(report)
        let snapshot = try StorageFile.open(path: result).beginRead()
        try FileVerifier.verify(snapshot)
        let model = try ModelView(snapshot: snapshot)
        guard let items = found.classes.first(where: { $0.name == "Item" }), !items.isTableLost else { return found }
        #expect(items.rowsCopied + items.rowsLost == Int(SampleDatabase.rowCount), "\(what)")
        let rows = try SampleDatabase.describe(model)
        #expect(rows.count == items.rowsCopied, "\(what)")
        let schema = SampleDatabase.classes[0]
        var different: [String: Int] = [:]
        for (key, values) in rows {
            let before = try #require(original[key], "\(what): row \(key) was never there")
            for (ordinal, property) in schema.properties.enumerated() where values[ordinal] != before[ordinal] {
                different[property.name, default: 0] += 1
            }
        }
        for (property, count) in different {
            #expect(items.valuesLost[property, default: 0] >= count, "\(what): \(count) values of \(property) differ")
        }
        return found
    }

    @Test func `an intact file is copied whole`() throws {
        let report = try salvage([], "intact", "intact")
        #expect(report.isComplete)
        #expect(report.damagedPages.isEmpty)
        #expect(report.classes.map(\.rowsCopied) == [3_000, 20])
    }

    @Test(arguments: [[0], [1], [2], [3], [0, 1], [2, 3], [0, 1, 2], [1, 2, 3]] as [[PageNumber]])
    func `damaged header pages cost nothing while one is left`(pages: [PageNumber]) throws {
        let report = try salvage(pages, "header-\(pages)", "header pages \(pages)")
        #expect(Set(report.damagedPages).isSuperset(of: pages))
        // With both copies of the newer slot gone, the file stands at the version before, of which pages may be reused.
        #expect(report.classes.contains { $0.rowsCopied > 1_000 })
    }

    @Test func `a file without any header page is refused`() throws {
        #expect(throws: StorageError.self) { try salvage([0, 1, 2, 3], "headless", "no header") }
    }

    @Test func `a damaged page of any kind costs what is on it and no more`() throws {
        var kinds: [PageKind: Int] = [:]
        for (kind, all) in runs.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            for index in Set([0, all.count / 2, all.count - 1]) {
                let run = all[index]
                let what = "\(kind) \(index) of \(all.count), page \(run.page)"
                let report: SalvageReport
                do {
                    report = try salvage([run.page], "\(kind)-\(index)", what)
                } catch let error as StorageError where error.code == .corrupt {
                    // The catalog's only page: nothing can be known without it, unless the version before has one.
                    #expect(kind == .byteTreeLeaf, "\(what): \(error)")
                    continue
                }
                kinds[kind, default: 0] += 1
                let items = try #require(report.classes.first { $0.name == "Item" }, "\(what)")
                switch kind {
                case .clusterInner: #expect(items.rowsLost > 0, "\(what)")
                case .clusterNode: #expect(items.rowsLost <= 1_000, "\(what)")
                case .column, .overflow, .sequenceLeaf, .sequenceInner:
                    #expect(items.rowsLost == 0 || items.valuesLost["id"] ?? 0 > 0, "\(what)")
                    #expect(!report.isComplete, "\(what)")
                case .byteTreeInner: #expect(report.isComplete, "\(what): an index is made anew")
                default: break
                }
            }
        }
        #expect(kinds.count >= 7, "\(kinds)")
    }

    @Test func `damage in an index is told although the index is made anew`() throws {
        for (index, run) in (runs[.byteTreeLeaf] ?? []).suffix(5).enumerated() {
            let report = try salvage([run.page], "index-\(index)", "index page \(run.page)")
            #expect(report.damagedPages == [run.page])
        }
    }

    @Test func `the page that opening names is named by salvaging`() throws {
        let page = try #require(runs[.clusterNode]?.last?.page)
        var forgery = Forgery(try HostileFile(path: sample.path))
        forgery.editHeader { header in
            header.confirmedVersion = header.version - 1
            header.isContentFlushed = false
            header.extents = [Extent(page: page, pageCount: 1)]
            header.contentChecksum = 1
        }
        // The other slot holds nothing.
        for offset in 2 * 4096..<4 * 4096 { forgery.bytes[offset] = 0 }
        let path = sample.directory.path("torn.realm")
        try Data(forgery.bytes).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: StorageError.self) { try StorageFile.open(path: path) }
        #expect(error?.page == page)
        let file = try DamagedFile(path: path)
        var report: SalvageReport?
        try StorageFile.build(
            at: path + ".salvaged",
            replaces: false,
            beginning: FileBeginning(version: file.roots[0].version)
        ) {
            report = try Salvager.salvage(file, to: $0)
        }
        #expect(report?.damagedPages.contains(page) == true)
    }

    @Test func `whatever page reading a whole file names is told by salvaging`() throws {
        let seed = UInt64.random(in: 0...9_999)
        var random = SplitMix64(seed: seed)
        // In an order of their own, so that a seed names the same pages in each process.
        let all = runs.values.flatMap { $0 }.sorted { $0.page < $1.page }
        for run in all.shuffled(using: &random).prefix(6) {
            let what = "seed \(seed), page \(run.page)"
            do {
                let report = try salvage([run.page], "told-\(run.page)", what)
                #expect(report.damagedPages.contains(run.page), "\(what): \(report.damagedPages)")
            } catch let error as StorageError where error.code == .corrupt {
                #expect(error.page == run.page, "\(what): \(error)")
            }
        }
    }

    @Test func `the page of a catalog without which nothing is found is named`() throws {
        let page = try StorageFile.open(path: sample.path).beginRead().catalog.root.page
        let error = #expect(throws: StorageError.self) { try salvage([page], "catalog", "the catalog") }
        #expect(error?.code == .corrupt)
        #expect(error?.page == page)
    }

    @Test func `a damaged space segment costs nothing`() throws {
        let snapshot = try StorageFile.open(path: sample.path).beginRead()
        let segments = try SpaceAudit.spaceSegments(of: snapshot)
        for (index, segment) in segments.enumerated() {
            let report = try salvage([segment.page], "log-\(index)", "space segment \(index)")
            #expect(report.isComplete)
        }
    }

    @Test func `random damage to many pages never traps, and the report adds up`() throws {
        let seed = UInt64.random(in: 0...9999)
        var random = SplitMix64(seed: seed)
        let count = try #require(try FileManager.default.attributesOfItem(atPath: sample.path)[.size] as? Int) / 4096
        for round in 0..<12 {
            let pages = Set((0..<(1 + round * 3)).map { _ in PageNumber(Int.random(in: 4..<count, using: &random)) })
            do {
                try salvage(Array(pages), "random-\(round)", "seed \(seed), round \(round)")
            } catch let error as StorageError {
                #expect(error.code == .corrupt, "seed \(seed), round \(round): \(error)")
            }
        }
    }
}
