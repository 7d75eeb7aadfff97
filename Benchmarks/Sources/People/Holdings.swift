/// What is there after a write: how many persons, the sum of their ages, and that of those whom a sample of emails finds.
///
/// An engine that lost a row, kept one, or whose index leads elsewhere has another one than plain Swift.
public struct Holdings: Equatable, Sendable, CustomStringConvertible {
    /// The persons.
    public var count: Int
    /// The sum of their ages.
    public var ages: Int
    /// The sum of the ages that are found by the emails of a sample.
    public var agesByEmail: Int

    /// Makes holdings of what an engine says.
    public init(count: Int, ages: Int, agesByEmail: Int) {
        self.count = count
        self.ages = ages
        self.agesByEmail = agesByEmail
    }

    /// Makes the holdings that plain Swift says must be there: the persons with these numbers, without those whose age is nil.
    public init(of ids: some Sequence<Int>, age: (PersonData) -> Int? = { $0.age }) {
        self.init(count: 0, ages: 0, agesByEmail: 0)
        for (place, id) in ids.enumerated() {
            guard let age = age(PersonData(id)) else { continue }
            count += 1
            ages += age
            if place.isMultiple(of: Self.stride) { agesByEmail += age }
        }
    }

    /// The emails of the sample of such persons, whether they are there or not.
    public static func emails(of ids: some Sequence<Int>) -> [String] {
        ids.enumerated().filter { $0.offset.isMultiple(of: stride) }.map { PersonData($0.element).email }
    }

    private static let stride = 97

    /// The numbers in words.
    public var description: String { "\(count) persons of \(ages) years, \(agesByEmail) by email" }
}
