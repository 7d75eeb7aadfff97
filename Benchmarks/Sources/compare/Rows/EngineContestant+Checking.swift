import Figures
import People

extension Engine {
    /// What it has, asked in three ways, for persons with these numbers.
    func holdings(_ ids: some Sequence<Int>) throws -> Holdings {
        // Takes the newest version.
        consume(try lookUp([]))
        return Holdings(
            count: try countOfRows(),
            ages: try sumOfRows(),
            agesByEmail: try find(emails: Holdings.emails(of: ids))
        )
    }
}

/// What a write has left: a figure of one that did something else says nothing.
extension EngineContestant {
    /// Fails where an engine has not what plain Swift says.
    func check(
        _ row: RowIdentifier,
        _ engine: E,
        _ ids: some Sequence<Int>,
        age: (PersonData) -> Int? = { $0.age }
    ) throws {
        try Answers.require(engine.holdings(ids), is: Holdings(of: ids, age: age), of: name, in: row)
    }

    /// Opens a file anew, and fails where it has not what plain Swift says.
    func check(
        _ row: RowIdentifier,
        at path: String,
        _ ids: some Sequence<Int>,
        age: (PersonData) -> Int? = { $0.age }
    ) throws {
        try check(row, open(path), ids, age: age)
    }

    /// The numbers of the persons in a file on which commits are measured, after some of these.
    func committed(_ ids: Range<Int>, _ others: Range<Int> = 0..<0) -> [Int] {
        Array(0..<workload.commitBase) + ids + others
    }
}
