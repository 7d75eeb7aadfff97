package import RealmStorage

/// What was got out of a damaged file, and what was not.
package struct SalvageReport: Sendable {
    /// One class.
    package struct ClassReport: Sendable {
        package var name: String
        package var rowsCopied = 0
        package var rowsLost = 0
        /// Whether rows are lost whose number nobody knows: the table's place was lost.
        package var isTableLost = false
        /// By property: the rows whose value could not be read, and have the default or null now; for lists, those that
        /// lack elements.
        package var valuesLost: [String: Int] = [:]
        /// Properties that could not be made anew, since the class that they link to is lost.
        package var propertiesLost: [String] = []
    }

    /// What became of the log of a file that was not closed.
    package struct LogReport: Sendable {
        /// The records behind the version of the file's header that are in the new file.
        package var recordsApplied = 0
        /// Those that can be read and are not there: one did not fit, and what follows was made on top of it.
        package var recordsLeftOut = 0
        /// Why the new file does not have all that the log had, or may have had; nil where it does, and where there was no log.
        package var problem: StorageError?
    }

    /// The version that was read.
    package var version: UInt64 = 0
    package var classes: [ClassReport] = []
    /// Pages that could not be read, ascending.
    package var damagedPages: [PageNumber] = []
    /// Classes of which only the number is known.
    package var namelessTables: [UInt32] = []
    package var log = LogReport()

    /// Whether everything was there.
    package var isComplete: Bool {
        namelessTables.isEmpty && log.problem == nil
            && classes.allSatisfy {
                $0.rowsLost == 0 && !$0.isTableLost && $0.valuesLost.isEmpty && $0.propertiesLost.isEmpty
            }
    }
}
