import Glibc

/// What SQLite and GRDB say to the same database.
enum SQL {
    /// A cache of 256 MB, and as much of the file mapped as can be.
    static let memory = "PRAGMA cache_size = -262144; PRAGMA mmap_size = 2147418112;"
    static let schema = """
        CREATE TABLE person (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL, score REAL NOT NULL,
            email TEXT NOT NULL, createdAt REAL NOT NULL
        );
        CREATE UNIQUE INDEX person_email ON person (email);
        """
    static let insertion = "INSERT INTO person VALUES (?, ?, ?, ?, ?, ?)"
    static let update = "UPDATE person SET age = ? WHERE id = ?"
    static let deletion = "DELETE FROM person WHERE id = ?"
    static let deletionByAge = "DELETE FROM person WHERE age < ?"
    static let age = "SELECT age FROM person WHERE id = ?"
    static let ageAndName = "SELECT age, name FROM person WHERE id = ?"
    static let countOfAll = "SELECT count(*) FROM person"
    static let ages = "SELECT age FROM person ORDER BY id"
    static let sum = "SELECT sum(age) FROM person"
    static let ageByEmail = "SELECT age FROM person WHERE email = ?"
    static let sorted = "SELECT id FROM person ORDER BY age, score"

    static let kennel = """
        CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL);
        CREATE TABLE dog (id INTEGER PRIMARY KEY, age INTEGER NOT NULL, owner INTEGER REFERENCES owner (id));
        CREATE INDEX dog_owner ON dog (owner);
        """
    static let ownerAges = "SELECT owner.age FROM dog JOIN owner ON owner.id = dog.owner"
    static let ownerIDs = "SELECT id FROM owner"
    static let dogAges = "SELECT age FROM dog WHERE owner = ?"

    static let library = "CREATE TABLE document (id INTEGER PRIMARY KEY, views INTEGER NOT NULL, text TEXT NOT NULL);"
    static let documentInsertion = "INSERT INTO document VALUES (?, ?, ?)"
    static let document = "SELECT views, text FROM document WHERE id = ?"
    static let documentUpdate = "UPDATE document SET views = ? WHERE id = ?"

    /// The query that counts, and the text that it is about.
    static func count(_ condition: Condition) -> (sql: String, text: String?) {
        let (test, text): (String, String?) =
            switch condition {
            case .agedThirtiesAndScored: ("age >= 30 AND age < 40 AND score > 0.5", nil)
            case .aged33: ("age = 33", nil)
            case .named(let name): ("name = ?", name)
            // `LIKE` ignores the case, which is not what is asked.
            case .namePrefix(let prefix): ("substr(name, 1, \(prefix.utf8.count)) = ?", prefix)
            case .nameContains(let part): ("instr(name, ?) > 0", part)
            }
        return ("SELECT count(*) FROM person WHERE " + test, text)
    }

    /// Columns of the young of a stretch of persons.
    static func young(_ columns: String) -> String {
        "SELECT \(columns) FROM person WHERE id >= ? AND id < ? AND age < 50 ORDER BY id"
    }

    /// Whether there is no such file yet.
    static func isNew(_ path: String) -> Bool { access(path, F_OK) != 0 }
}
