package import OrderedCollections
import Synchronization

/// All classes of a database: as declared by a configuration, or as a file stores them.
package struct DatabaseSchema: Sendable, Equatable {
    /// The schema version of the configuration, or the one last written to the file.
    package var version: UInt64
    /// For a stored schema: the file version that last changed it.
    ///
    /// Equal stamps of one file mean equal schemas.
    package internal(set) var stamp: UInt64 = 0
    /// Shared by all copies: each transaction hands the schema on a few times.
    private let contents: Contents

    /// The classes by name, in declared or in creation order.
    package var classes: OrderedDictionary<String, ClassSchema> { contents.classes }

    /// Whether a delete rule denies deletions.
    var deniesDeletions: Bool { contents.deniesDeletions }

    private final class Contents: Sendable {
        let classes: OrderedDictionary<String, ClassSchema>
        let classNames: [UInt32: String]
        /// The classes that the file stores under another name than programs use, by that stored name.
        let storedNames: [String: String]
        let incoming: [String: [LinkOrigin]]
        /// The properties that can link to every class.
        let incomingToAny: [LinkOrigin]
        let deniesDeletions: Bool
        /// The numbers of what it declares, once they were asked for.
        let ruleNumbers = Mutex<Set<UInt64>?>(nil)
        /// What makes no sense in it, once that was asked for.
        let faults = Mutex<[String]?>(nil)
        /// The layouts that were asked for, by table: views of many versions stand on the same.
        let layouts = Mutex<[UInt32: TableLayout]>([:])

        init(_ list: some Sequence<ClassSchema>) {
            var classes = OrderedDictionary<String, ClassSchema>()
            var names: [UInt32: String] = [:]
            var storedNames: [String: String] = [:]
            var incoming: [String: [LinkOrigin]] = [:]
            var incomingToAny: [LinkOrigin] = []
            for schema in list {
                classes[schema.name] = schema
                if schema.tableID != 0 { names[schema.tableID] = schema.name }
                if let stored = schema.storedName { storedNames[stored] = schema.name }
                for (ordinal, property) in schema.properties.enumerated() where property.makesLinks {
                    let origin = LinkOrigin(className: schema.name, tableID: schema.tableID, property: ordinal)
                    if property.kind == .any {
                        incomingToAny.append(origin)
                    } else if let target = property.targetClass {
                        incoming[target, default: []].append(origin)
                    }
                }
            }
            self.classes = classes
            classNames = names
            self.storedNames = storedNames
            self.incoming = incoming
            self.incomingToAny = incomingToAny
            deniesDeletions = classes.values.contains { $0.properties.contains { $0.deleteRule == .deny } }
        }
    }

    /// A property that links to a class.
    package struct LinkOrigin: Sendable, Hashable {
        /// The origin's class and its table.
        package let className: String
        package let tableID: UInt32
        /// The ordinal of the linking property in the origin class.
        package let property: Int
    }

    package init(classes: some Sequence<ClassSchema>, version: UInt64 = 0) {
        contents = Contents(classes)
        self.version = version
    }

    /// The classes in order.
    package var list: [ClassSchema] { Array(classes.values) }

    /// The class of a name, which may also be the one that it has in the file.
    package subscript(className: String) -> ClassSchema? {
        classes[className] ?? contents.storedNames[className].flatMap { classes[$0] }
    }

    /// The name by which `classes` has a class that may be given by its name in the file.
    package func name(of className: String) -> String {
        classes[className] == nil ? contents.storedNames[className] ?? className : className
    }

    /// The class of a table.
    package func schema(of tableID: UInt32) -> ClassSchema? {
        contents.classNames[tableID].flatMap { classes[$0] }
    }

    /// Where a class of this schema, which is a stored one, keeps what.
    func layout(of schema: ClassSchema) -> TableLayout {
        if let known = contents.layouts.withLock({ $0[schema.tableID] }) { return known }
        // Not under the lock: it asks this schema for the classes that are linked to.
        let made = TableLayout(schema, in: self)
        return contents.layouts.withLock { layouts in
            if let other = layouts[schema.tableID] { return other }
            layouts[schema.tableID] = made
            return made
        }
    }

    /// The numbers of the indexes, unique rules and delete rules that a program declares, under all names that a file may have for
    /// its classes; found out once.
    package var ruleNumbers: Set<UInt64> {
        contents.ruleNumbers.withLock { numbers in
            if let numbers { return numbers }
            let made = Self.ruleNumbers(of: classes.values)
            numbers = made
            return made
        }
    }

    /// One sentence for each thing in it that makes no sense, as a program declares it; found out once.
    var faults: [String] {
        if let known = contents.faults.withLock({ $0 }) { return known }
        // Not under the lock: it asks this schema for the classes that are linked to.
        let found = SchemaValidator.faults(in: self)
        contents.faults.withLock { $0 = found }
        return found
    }

    /// The tables that a property can link to.
    package func tables(linkedBy property: PropertySchema) -> [UInt32] {
        if property.kind == .any { return classes.values.map(\.tableID) }
        guard property.isLink, let target = property.targetClass.flatMap({ classes[$0]?.tableID }) else { return [] }
        return [target]
    }

    /// The properties, in whatever class, that link to the class or can link to any.
    package func linkOrigins(to className: String) -> [LinkOrigin] {
        (contents.incoming[name(of: className)] ?? []) + contents.incomingToAny
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.version == right.version && (left.contents === right.contents || left.classes == right.classes)
    }
}
