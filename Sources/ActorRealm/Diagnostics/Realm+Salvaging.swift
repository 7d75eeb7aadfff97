public import Foundation
import RealmModel
import RealmStorage

extension Realm {
    /// What ``Realm/salvage(from:to:)`` got out of a damaged file, and what it did not.
    public struct SalvageReport: Sendable, CustomStringConvertible {
        /// One class.
        public struct ClassReport: Sendable {
            /// The name of the class.
            public let name: String
            /// The objects that are in the new file.
            public let objectsCopied: Int
            /// The objects that are not.
            public let objectsLost: Int
            /// Whether the place of the table was lost, so that nobody knows how many objects there were.
            public let isTableLost: Bool
            /// By property: the number of objects whose value could not be read and is null or the default now, or whose
            /// list lacks elements.
            public let valuesLost: [String: Int]
            /// Properties that the new file does not have, because the class that they link to is lost.
            public let propertiesLost: [String]
        }

        /// The version of the damaged file that was read.
        public let version: UInt64
        /// The classes.
        public let classes: [ClassReport]
        /// The numbers of the 4 KiB pages that could not be read.
        public let damagedPages: [Int]
        /// The number of classes of which not even the name could be read.
        public let namelessClassCount: Int
        /// The commits of the log that are in the new file, behind the version of the damaged file's header.
        package let commitsApplied: Int
        /// Those that can be read and are not there.
        package let commitsLeftOut: Int
        /// Why not all that the log had is in the new file; nil where it is, and where there was no log.
        package let logProblem: String?
        /// Whether nothing was lost but what can be made anew, as indexes can.
        public let isComplete: Bool

        /// The report in lines of text.
        public var description: String {
            var lines = ["version \(version), damaged pages: \(damagedPages.isEmpty ? "none" : "\(damagedPages)")"]
            for item in classes {
                var line = "\(item.name): \(item.objectsCopied) objects copied, \(item.objectsLost) lost"
                if item.isTableLost { line += ", their table was lost" }
                for (property, count) in item.valuesLost.sorted(by: { $0.key < $1.key }) {
                    line += "; \(property): \(count) values lost"
                }
                if !item.propertiesLost.isEmpty { line += "; without \(item.propertiesLost.joined(separator: ", "))" }
                lines.append(line)
            }
            if namelessClassCount > 0 { lines.append("\(namelessClassCount) classes lost with their names") }
            if commitsApplied > 0 || logProblem != nil {
                var line = "log: \(commitsApplied) commits applied"
                if commitsLeftOut > 0 { line += ", \(commitsLeftOut) left out" }
                if let logProblem { line += "; \(logProblem)" }
                lines.append(line)
            }
            return lines.joined(separator: "\n")
        }

        init(_ report: RealmModel.SalvageReport) {
            version = report.version
            classes = report.classes.map {
                ClassReport(
                    name: $0.name,
                    objectsCopied: $0.rowsCopied,
                    objectsLost: $0.rowsLost,
                    isTableLost: $0.isTableLost,
                    valuesLost: $0.valuesLost,
                    propertiesLost: $0.propertiesLost
                )
            }
            damagedPages = report.damagedPages.map { Int($0) }
            namelessClassCount = report.namelessTables.count
            commitsApplied = report.log.recordsApplied
            commitsLeftOut = report.log.recordsLeftOut
            logProblem = report.log.problem?.description
            isComplete = report.isComplete
        }
    }

    /// Copies what can be read of a damaged file to a new one.
    ///
    /// The damaged file is not changed. Every page that is read is checked; what fails is left out, counted, and named in the
    /// report. Indexes and backlinks are made anew. The new file has the schema of the old one, and keeps the places of its
    /// objects, so that what linked to each other still does; a link to an object that is lost is null.
    ///
    /// Where a kill has left a log beside the file (`<file>.log`), its
    /// commits are applied in memory first, as many as fit one on top of the other, and the log is not changed either.
    /// So leave it beside the file. Salvage is also the remedy where the log is missing, is another file's, or is
    /// damaged, and an opening throws `.invalidDatabase`: the new file has what can be read without it, commits behind
    /// that are lost, `isComplete` is false, and the printed report says why. If the log can be brought back, do that
    /// instead: nothing is lost then.
    ///
    /// ```swift
    /// let report = try Realm.salvage(from: damagedURL, to: newURL)
    /// print(report)
    /// ```
    ///
    /// - Parameters:
    ///   - source: The damaged file, with its log beside it, if it has one; nobody may have it open.
    ///   - destination: The new file, which must not exist.
    /// - Returns: what was copied and what was lost.
    /// - Throws: `Realm.Error`: `.alreadyOpen`, `.fileExists`, `.filePermissionDenied` when the file, or the lock file that tells whether it
    ///   is open, may not be read, or `.invalidDatabase` when nothing at all can be read: no page of the header, or no class of the catalog.
    /// - Complexity: O(the size of the file).
    public static func salvage(from source: URL, to destination: URL) throws -> SalvageReport {
        let path = try OpenSettings.checkedPath(of: destination, "The destination of salvage")
        let damagedPath = try OpenSettings.checkedPath(of: source, "The source of salvage")
        if FileManager.default.fileExists(atPath: path) {
            throw Realm.Error(.fileExists, "The destination of salvage exists already.", fileURL: destination)
        }
        do {
            let damaged = try DamagedFile(path: damagedPath)
            var report: RealmModel.SalvageReport?
            let beginning = FileBeginning(version: damaged.newestVersion)
            try StorageFile.build(at: path, replaces: false, beginning: beginning) {
                report = try Salvager.salvage(damaged, to: $0)
            }
            guard let report else { throw Realm.Error(.fail, fileURL: source) }
            return SalvageReport(report)
        } catch {
            throw Realm.Error.wrap(error, path: damagedPath)
        }
    }
}
