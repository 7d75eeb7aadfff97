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

    /// The version that was read.
    package var version: UInt64 = 0
    package var classes: [ClassReport] = []
    /// Pages that could not be read, ascending.
    package var damagedPages: [PageNumber] = []
    /// Classes of which only the number is known.
    package var namelessTables: [UInt32] = []

    /// Whether everything was there.
    package var isComplete: Bool {
        namelessTables.isEmpty
            && classes.allSatisfy {
                $0.rowsLost == 0 && !$0.isTableLost && $0.valuesLost.isEmpty && $0.propertiesLost.isEmpty
            }
    }
}
