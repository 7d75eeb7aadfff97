import Figures
import People
import Testing

@Suite("What engines answer")
@MainActor
struct AnswersTests {
    @Test("Engines that answer the same pass, and one that does not is an error that names both")
    func differing() throws {
        let answers = Answers()
        try answers.compare(42, of: "actorrealm", in: .lookup)
        try answers.compare(42, of: "sqlite", in: .lookup)
        try answers.compare(7, of: "sqlite", in: .sort)
        let failure = #expect(throws: Answers.Failure.self) { try answers.compare(43, of: "lmdb", in: .lookup) }
        #expect(failure?.description == "W3.lookup: lmdb answers 43, actorrealm 42.")
    }

    @Test("An engine that has not what plain Swift says is an error")
    func required() throws {
        try Answers.require(5, is: 5, of: "lmdb", in: .insert)
        let failure = #expect(throws: Answers.Failure.self) { try Answers.require(4, is: 5, of: "lmdb", in: .insert) }
        #expect(failure?.description == "W1.insert: lmdb has 4, and 5 must be there.")
    }

    @Test("Holdings tell a lost person, one of another age, and one whom its email does not find")
    func holdings() {
        let all = Holdings(of: 0..<1_000)
        #expect(all.count == 1_000)
        #expect(all.ages == (0..<1_000).reduce(0) { $0 + PersonData($1).age })
        // Of age 0 there are a few, whose loss no sum tells.
        let newborn = (0..<1_000).first { PersonData($0).age == 0 }
        let lost = Holdings(of: 0..<1_000) { $0.id == newborn ? nil : $0.age }
        #expect(lost != all)
        #expect(lost.ages == all.ages)
        #expect(Holdings(of: 0..<1_000) { $0.id == 5 ? $0.age + 1 : $0.age } != all)
        let emails = Holdings.emails(of: 0..<1_000)
        #expect(emails.first == PersonData(0).email)
        let found = (0..<1_000).map { PersonData($0) }.filter { emails.contains($0.email) }
        #expect(all.agesByEmail == found.reduce(0) { $0 + $1.age })
        #expect(all.agesByEmail > 0)
    }
}
