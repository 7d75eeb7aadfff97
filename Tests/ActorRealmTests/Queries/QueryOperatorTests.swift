import ActorRealm
import Foundation
import Testing

class Sheet: Object {
    @Persisted var id = 0
    @Persisted var text = ""
    @Persisted var other = ""
    @Persisted var maybe: String?
    @Persisted var data: Data
    @Persisted var number = 0.0
    @Persisted var second = 0.0
    @Persisted var price: Decimal128
    @Persisted var date: Date
    @Persisted var late: Date?
    @Persisted var flag = false
    @Persisted var words: MutableSet<String>
    @Persisted var numbers: List<Double>
    @Persisted var dates: List<Date>
    @Persisted var next: Sheet?
    @Persisted var sheets: List<Sheet>
    @Persisted(originProperty: "sheets") var folders: LinkingObjects<Sheet>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The operators of typed queries, group by group.
@Suite struct QueryOperatorTests {
    private func filled() throws -> Realm {
        let realm = try memoryRealm([Sheet.self])
        try realm.write {
            for (id, text) in ["Åre", "are", "arena", "Ware", "", "a*e"].enumerated() {
                let sheet = realm.create(Sheet.self, value: ["id": id, "text": text])
                sheet.other = id % 2 == 0 ? text : "are"
                sheet.maybe = id < 3 ? text : nil
                sheet.data = Data(text.utf8)
                sheet.number = Double(id)
                sheet.second = Double(5 - id)
                sheet.price = Decimal128(id) / 2
                sheet.date = Date(timeIntervalSince1970: Double(id))
                sheet.late = id == 4 ? Date(timeIntervalSince1970: 9) : nil
                sheet.flag = id > 3
                sheet.words.insert(objectsIn: [text, "w\(id)"])
                sheet.numbers.append(objectsIn: [Double(id), Double(id) * 2])
                sheet.dates.append(Date(timeIntervalSince1970: Double(id)))
                sheet.next = realm.objects(Sheet.self).first
                sheet.sheets.append(objectsIn: realm.objects(Sheet.self).where { $0.id < id })
            }
        }
        return realm
    }

    private func check(
        _ realm: Realm,
        _ query: (Query<Sheet>) -> Query<Bool>,
        _ ids: [Int],
        line: SourceLocation = #_sourceLocation
    ) {
        #expect(Array(realm.objects(Sheet.self).where(query).map(\.id)) == ids, sourceLocation: line)
    }

    @Test func `text is searched with and without case and accents, in constants and columns`() throws {
        let realm = try filled()
        check(realm, { $0.text.contains("are") }, [1, 2, 3])
        check(realm, { $0.text.contains("ARE", options: .caseInsensitive) }, [1, 2, 3])
        check(realm, { $0.text.contains("are", options: [.caseInsensitive, .diacriticInsensitive]) }, [0, 1, 2, 3])
        check(realm, { $0.text.starts(with: "å", options: .caseInsensitive) }, [0])
        check(realm, { $0.text.ends(with: "ARE", options: .caseInsensitive) }, [1, 3])
        check(realm, { $0.text.equals("are", options: [.caseInsensitive, .diacriticInsensitive]) }, [0, 1])
        check(realm, { $0.text.notEquals("ARE", options: .caseInsensitive) }, [0, 2, 3, 4, 5])
        check(realm, { $0.text.like("?re") }, [0, 1])
        check(realm, { $0.text.like("*ARE*", caseInsensitive: true) }, [1, 2, 3])
        check(realm, { $0.text.equals($0.other) }, [0, 1, 2, 4])
        check(realm, { $0.text.contains($0.other) && $0.other != "" }, [0, 1, 2, 3])
        check(realm, { $0.text.ends(with: $0.other) && $0.id == 3 }, [3])
        check(realm, { $0.text.like($0.other) }, [0, 1, 2, 4])
        check(realm, { $0.maybe.starts(with: "a") }, [1, 2])
        check(realm, { $0.maybe.equals(nil) }, [3, 4, 5])
    }

    @Test func `text and data are ordered by their bytes`() throws {
        let realm = try filled()
        check(realm, { $0.text > "are" }, [0, 2])
        check(realm, { $0.text >= "are" }, [0, 1, 2])
        check(realm, { $0.text < "a" }, [3, 4])
        check(realm, { $0.text <= "a*e" }, [3, 4, 5])
        check(realm, { $0.text > $0.other }, [])
        check(realm, { $0.data == Data("are".utf8) }, [1])
        check(realm, { $0.data.contains(Data("re".utf8)) }, [0, 1, 2, 3])
        check(realm, { $0.data.starts(with: Data("are".utf8)) }, [1, 2])
        check(realm, { $0.data.ends(with: Data("na".utf8)) }, [2])
        check(realm, { $0.data > Data("are".utf8) }, [0, 2])
    }

    @Test func `numbers, decimals and dates are ordered, also by another column`() throws {
        let realm = try filled()
        check(realm, { $0.number > $0.second }, [3, 4, 5])
        check(realm, { $0.number <= $0.second }, [0, 1, 2])
        check(realm, { $0.number != $0.second && $0.number >= 4 }, [4, 5])
        check(realm, { $0.price > 1.5 }, [4, 5])
        check(realm, { $0.price.contains(0.5...1) }, [1, 2])
        check(realm, { $0.number.contains(1..<3) }, [1, 2])
        check(realm, { $0.number.contains(1...3) }, [1, 2, 3])
        check(realm, { $0.date < Date(timeIntervalSince1970: 2) }, [0, 1])
        check(realm, { $0.date.contains(Date(timeIntervalSince1970: 1)...Date(timeIntervalSince1970: 2)) }, [1, 2])
        check(realm, { $0.late == nil && $0.number > 3 }, [5])
        check(realm, { $0.number.in([1, 9, 4]) }, [1, 4])
    }

    @Test func `a boolean is a condition, and conditions are joined`() throws {
        let realm = try filled()
        check(realm, { $0.flag }, [4, 5])
        check(realm, { !$0.flag && $0.id > 1 }, [2, 3])
        check(realm, { $0.flag || $0.id == 0 }, [0, 4, 5])
        check(realm, { !($0.flag || $0.id == 0) }, [1, 2, 3])
        check(realm, { $0.next.flag == false && $0.flag }, [4, 5])
    }

    @Test func `collections are searched, counted and computed over`() throws {
        let realm = try filled()
        let third = realm.objects(Sheet.self)[2]
        check(realm, { $0.words.contains("are") }, [1])
        check(realm, { $0.words.containsAny(in: ["w1", "w3"]) }, [1, 3])
        check(realm, { $0.words.count == 2 && $0.id < 2 }, [0, 1])
        check(realm, { $0.numbers == 4 }, [2, 4])
        check(realm, { $0.numbers > 8 }, [5])
        check(realm, { $0.numbers.min == 3 }, [3])
        check(realm, { $0.numbers.max >= 8 }, [4, 5])
        check(realm, { $0.numbers.sum == 6 }, [2])
        check(realm, { $0.numbers.avg == 3 }, [2])
        check(realm, { $0.numbers.contains(2...4) }, [2])
        check(realm, { $0.dates.max > Date(timeIntervalSince1970: 3) }, [4, 5])
        check(realm, { $0.sheets.contains(third) }, [3, 4, 5])
        check(realm, { $0.sheets.text == "arena" }, [3, 4, 5])
        check(realm, { $0.sheets.number.max == 3 }, [4])
        check(realm, { $0.sheets.next.id == 0 && $0.id < 2 }, [1])
        check(realm, { ($0.sheets.number > 1 && $0.sheets.flag == false).count == 2 }, [4, 5])
        check(realm, { $0.folders.count == 5 }, [0])
        check(realm, { $0.folders.flag == true }, [0, 1, 2, 3, 4])
        check(realm, { $0.folders.contains(third) }, [0, 1])
    }
}
