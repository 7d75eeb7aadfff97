import Foundation
import RealmModel

/// Looks for what does not fit in dynamically typed values, before anything is made of them.
///
/// All problems of one input are found, each with the place where it stands.
struct InputCheck {
    /// How deep objects may nest in an input.
    static let depthLimit = 100
    /// The number of problems that are listed.
    static let listedCount = 20

    private let core: RealmCore
    private let ignoresUnknownKeys: Bool
    private var problems: [String] = []
    private var problemCount = 0
    /// Where the value that is looked at stands.
    private var path: [Step] = []
    /// The objects that are being copied, from the outermost to that of the value that is looked at.
    private var open: [Identity] = []
    /// All that were copied, and how often one of them was copied again: each path to an object makes another copy.
    private var copied: Set<Identity> = []
    private var repeats = 0
    private static let repeatLimit = 100_000
    /// Whether the input is so wrong that the rest is not looked at.
    private var isGivenUp = false
    /// How deep the object nests that is looked at.
    private var depth = 0
    /// The class and property that are looked at, and what the first problem is about.
    private var subject = Realm.Error.Details()
    private var details: Realm.Error.Details?

    private enum Step {
        case name(String)
        case index(Int)
    }

    /// What an object is known by: itself, or the row that all its accessors share.
    enum Identity: Hashable {
        case unmanaged(ObjectIdentifier)
        case managed(ObjectIdentifier, Int64)

        init(_ object: ObjectBase) {
            self =
                object.tableAccessor.map { .managed(ObjectIdentifier($0.table), object.rowKey) }
                ?? .unmanaged(ObjectIdentifier(object))
        }
    }

    init(core: RealmCore, ignoresUnknownKeys: Bool) {
        self.core = core
        self.ignoresUnknownKeys = ignoresUnknownKeys
    }

    /// Looks at what an object of a class is to be made of.
    mutating func check(_ value: Any, for info: ModelClass) {
        check(value, for: info, makesObject: true)
    }

    private mutating func check(_ value: Any, for info: ModelClass, makesObject: Bool) {
        if let object = ValueReader.object(value) {
            checkCopy(of: object, info)
        } else if canRead(elementsOf: value) {
            checkContent(value, info, makesObject: makesObject)
        }
    }

    /// Looks at what the properties of a managed object are to be set to.
    mutating func check(_ values: [String: Any?], settingOn object: ObjectBase, _ info: ModelClass) throws {
        check(values, for: info, makesObject: false)
        guard let property = info.primaryKeyProperty,
            let given = ValueReader.values(of: values, for: info)?[property.ordinal],
            let key = property.valueType._storedKey(given)?.value
        else { return }
        try object.requireReadable(property)
        if property.valueType._storedKey(property.value(in: object))?.value == key { return }
        subject = Realm.Error.Details(className: info.name, propertyName: property.name)
        at(.name(property.name)) { $0.report("the primary key of an object that is in a realm cannot be changed") }
    }

    /// Throws when something was found.
    func throwProblems(of info: ModelClass) throws {
        if problemCount == 0 { return }
        var lines = problems.map { "\n- " + $0 }.joined()
        if problemCount > problems.count { lines += "\n- and \(problemCount - problems.count) more" }
        throw Realm.Error(
            .invalidInput,
            "An object of type '\(info.name)' cannot be made of the input:" + lines,
            fileURL: core.configuration.fileURL,
            details: details ?? Realm.Error.Details(className: info.name)
        )
    }

    // MARK: Problems

    private mutating func report(_ text: @autoclosure () -> String) {
        problemCount += 1
        if details == nil, subject.className != nil { details = subject }
        guard problems.count < Self.listedCount else { return }
        let place = place
        problems.append(place.isEmpty ? text() : "\(place): \(text())")
    }

    private mutating func giveUp(_ text: @autoclosure () -> String) {
        report(text())
        isGivenUp = true
    }

    private var place: String {
        var text = ""
        for step in path {
            switch step {
            case .name(let name): text += (text.isEmpty ? "" : ".") + Self.excerpt(name)
            case .index(let index): text += "[\(index)]"
            }
            // The beginning says enough of what nests without end.
            if text.utf8.count > 200 { return text + "…" }
        }
        return text
    }

    private static func excerpt(_ text: String) -> String { text.count <= 100 ? text : text.prefix(100) + "…" }

    /// A value in a message: the value itself where it is short, and its type.
    static func describe(_ value: Any?) -> String {
        guard let value = ValueReader.unwrap(value) else { return "nil" }
        switch value {
        case let text as String: return "'\(excerpt(text))' (String)"
        case let date as Date: return "\(date.text) (Date)"
        case let value as AnyRealmValue: return describe(value.content)
        case is [Any]: return "an array"
        case is [String: Any], is ValueReader.Entries: return "a dictionary"
        case is Set<AnyHashable>: return "a set"
        case is [AnyHashable: Any]: return "a dictionary"
        case is List<AnyRealmValue>: return "a list"
        case is Map<String, AnyRealmValue>: return "a dictionary"
        case let object as ObjectBase: return "an object of type '\(object.modelClass.name)'"
        case let value as InputReader.Unreadable:
            return value.isSkipped ? "a value that was not looked at" : "a number or a text that cannot be read"
        default: return "\(excerpt(text(of: value))) (\(type(of: value)))"
        }
    }

    /// A value as a program writes it, for messages: Foundation has no text of a date far away.
    static func text(of value: Any?, depth: Int = 0) -> String {
        guard let value = ValueReader.unwrap(value) else { return "nil" }
        /// At most 16 elements, three levels deep.
        func list<Elements: Collection>(_ elements: Elements, _ text: (Elements.Element) -> String) -> String {
            guard depth < 3 else { return "…" }
            return elements.prefix(16).map(text).joined(separator: ", ") + (elements.count > 16 ? ", …" : "")
        }
        switch value {
        case let text as String: return depth > 0 ? "\"\(text)\"" : text
        case let date as Date: return date.text
        case let value as AnyRealmValue: return text(of: value.content, depth: depth)
        case let values as [Any]: return "[" + list(values) { text(of: $0, depth: depth + 1) } + "]"
        case let values as [String: Any]:
            if values.isEmpty { return "[:]" }
            let sorted = values.sorted { $0.key < $1.key }
            return "[" + list(sorted) { "\"\($0.key)\": \(text(of: $0.value, depth: depth + 1))" } + "]"
        case is Set<AnyHashable>, is [AnyHashable: Any]: return describe(value)
        case is DateInterval, is Range<Date>, is ClosedRange<Date>: return "a range"
        case is any RealmCollection, is Substring, is Data: return "\(value)"
        case is any Collection: return "a collection"
        default: return "\(value)"
        }
    }

    private mutating func at(_ step: Step, _ body: (inout InputCheck) -> Void) {
        path.append(step)
        body(&self)
        path.removeLast()
    }

    // MARK: Objects

    /// Looks at an object whose values are copied.
    private mutating func checkCopy(of object: ObjectBase, _ info: ModelClass) {
        guard canRead(object) else { return }
        let identity = Identity(object)
        if open.contains(identity) {
            return giveUp(
                "the object leads back to itself, and copying it would never end: insert it with `try realm.insert(object)` instead"
            )
        }
        // Copies of what leads nowhere are as many as the input has elements.
        if object.modelClass.properties.contains(where: \.schema.makesLinks), !copied.insert(identity).inserted {
            repeats += 1
            guard repeats <= Self.repeatLimit else {
                return giveUp(
                    "objects lead to each other on more than \(Self.repeatLimit) paths, each of which makes a copy: insert them with "
                        + "`try realm.insert(object)` instead"
                )
            }
        }
        guard canReadProperties(of: object) else { return }
        open.append(identity)
        checkContent(object, info)
        open.removeLast()
    }

    /// Whether the properties of an object can be read, and none of an unmanaged one lacks a value.
    private mutating func canReadProperties(of object: ObjectBase) -> Bool {
        do {
            for property in object.modelClass.properties { try object.requireReadable(property) }
            return true
        } catch {
            report((error as? Realm.Error)?.message ?? "\(error)")
            return false
        }
    }

    /// Whether an object can be read here.
    private mutating func canRead(_ object: ObjectBase) -> Bool {
        guard let other = object.core else { return true }
        if !other.isCurrent {
            report("the object belongs to a realm of another isolation: give a frozen copy of it")
            return false
        }
        if object.isInvalidated {
            report("the object has been deleted or invalidated")
            return false
        }
        return true
    }

    /// Whether a list, set or map can be read here, or what a slice or another view is one of.
    private mutating func canRead(elementsOf value: Any) -> Bool {
        if ValueReader.isPlain(value) { return true }
        let source = ElementSource(of: value)
        if let core = (source.elements as? any ThreadConfined)?.realm?.core {
            guard core.isCurrent else {
                report("the collection belongs to a realm of another isolation: give a frozen copy of it")
                return false
            }
        } else if !source.isViewed, !source.isBlind {
            return true
        }
        // What another program has stored there need not be what this one has types for.
        do {
            try source.requireReadable()
            return true
        } catch {
            report((error as? Realm.Error)?.message ?? "\(error)")
            return false
        }
    }

    /// Looks at values for the properties of an object, and at what is missing where the object is made of them.
    private mutating func checkContent(_ value: Any, _ info: ModelClass, makesObject: Bool = true) {
        if isGivenUp { return }
        guard depth < Self.depthLimit else {
            return giveUp("objects nest deeper than \(Self.depthLimit) levels")
        }
        depth += 1
        let outer = subject
        subject = Realm.Error.Details(className: info.name)
        defer { (depth, subject) = (depth - 1, outer) }
        if let names = (value as? [String: Any?])?.keys.sorted() {
            checkNames(names, info)
        } else if let entries = value as? ValueReader.Entries {
            checkNames(entries.entries.map(\.name).sorted { TextBytes.order($0, $1) < 0 }, info)
        } else if ValueReader.object(value) == nil, let array = value as? [Any?] {
            let count = info.properties.count { !$0.isComputed }
            if array.count > count {
                return report("the array has \(array.count) values, and '\(info.name)' has \(count) properties")
            }
        }
        guard let values = ValueReader.values(of: value, for: info) else {
            return report(
                "\(Self.describe(value)) is no '\(info.name)': give a dictionary by property name, an array in property "
                    + "order or an object"
            )
        }
        for property in info.properties where !isGivenUp {
            guard let given = values[property.ordinal] else {
                if makesObject { checkMissing(property, of: info) }
                continue
            }
            subject.propertyName = property.name
            at(.name(property.name)) { $0.check(given, for: property, of: info) }
        }
    }

    private mutating func checkMissing(_ property: ModelProperty, of info: ModelClass) {
        let message: String
        if info.isDynamic {
            // A migration may have taken the primary key away.
            guard property.isPrimaryKey, core.migration == nil else { return }
            message = CreateContext.missingKeyMessage(info, property)
        } else {
            guard property.isRequired(of: info) else { return }
            message = property.missingValueMessage(className: info.name)
        }
        subject.propertyName = property.name
        at(.name(property.name)) { $0.report(message) }
    }

    private mutating func checkNames(_ names: [String], _ info: ModelClass) {
        defer { subject.propertyName = nil }
        for key in names {
            subject.propertyName = Self.excerpt(key)
            guard let property = info.property(inPath: key) else {
                if !ignoresUnknownKeys { at(.name(key)) { $0.report("'\(info.name)' has no such property") } }
                continue
            }
            if !ignoresUnknownKeys, !TextBytes.areEqual(key, property.name),
                names.contains(where: { TextBytes.areEqual($0, property.name) })
            {
                at(.name(key)) { $0.report("this is '\(property.name)', which is given by that name as well") }
            }
            if property.isComputed {
                at(.name(key)) { $0.report("the objects that link to this one cannot be given: set the link in them") }
            }
        }
    }

    // MARK: Values

    private mutating func check(_ value: Any?, for property: ModelProperty, of info: ModelClass) {
        guard property.shape.collection == .none else { return checkCollection(value, property) }
        switch property.shape.kind {
        case .object:
            guard let value = ValueReader.unwrap(value), isObjectInput(value) else {
                return checkFit(value, property)
            }
            checkLink(value, property)
        case .any: checkAny(value, depth: 0)
        default:
            checkFit(value, property)
            checkLength(of: value, property, info)
        }
    }

    /// Whether a value is what an object is made of.
    private func isObjectInput(_ value: Any) -> Bool {
        ValueReader.object(value) != nil || ValueReader.isComposite(value)
    }

    private mutating func checkLink(_ value: Any, _ property: ModelProperty) {
        guard let info = target(of: property) else {
            return report("the class '\(property.targetName)' is not in the realm")
        }
        guard let object = ValueReader.object(value) else { return checkContent(value, info) }
        guard object.modelClass.name == info.name else {
            return report("\(Self.describe(value)) is no '\(info.name)'")
        }
        // An object of this realm is linked to, others are copied, and so is what belongs to its owner only.
        if object.core === core, !info.isEmbedded { _ = canRead(object) } else { checkCopy(of: object, info) }
    }

    /// The class that a property links to; nil when the realm does not have it.
    private func target(of property: ModelProperty) -> ModelClass? {
        guard let type = property.shape.target else { return nil }
        if type == DynamicObject.self { return core.registry.dynamicAccessor(className: property.targetName)?.info }
        return core.accessor(for: type) == nil ? nil : ModelClass.of(type)
    }

    private mutating func checkFit(_ value: Any?, _ property: ModelProperty) {
        if Self.fits(value, property.valueType) { return }
        report("\(Self.describe(value)) is no '\(property.schema.typeDescription)'")
    }

    private static func fits<Value: _Persistable>(_ value: Any?, _ type: Value.Type) -> Bool {
        if case .some = Value._unboxed(value) { return true }
        return false
    }

    private mutating func checkLength(of value: Any?, _ property: ModelProperty, _ info: ModelClass) {
        guard property.isPrimaryKey || property.isUnique, let text = ValueReader.unwrap(value) as? String,
            text.utf8.count > PropertySchema.uniqueStringByteLimit, core.model.limitsUniqueStrings(of: info.name)
        else { return }
        report(
            "the value has \(text.utf8.count) bytes, and a primary key or unique string has at most "
                + "\(PropertySchema.uniqueStringByteLimit) in a class that an earlier release has stored"
        )
    }

    private mutating func checkCollection(_ value: Any?, _ property: ModelProperty) {
        guard let value = ValueReader.unwrap(value), canRead(elementsOf: value) else { return }
        if property.shape.collection == .map {
            guard let entries = ValueReader.entries(of: value) else {
                return report("\(Self.describe(value)) is no dictionary with names as its keys")
            }
            for (name, element) in entries where !isGivenUp {
                at(.name(name)) { check in
                    check.checkName(name)
                    check.checkElement(element, property) { ["name": $0] as [String: Any?] }
                }
            }
        } else {
            guard let elements = ValueReader.elements(of: value) else {
                let limit =
                    ElementSource.makesElements(value) ? " of at most \(ValueReader.elementLimit) elements" : ""
                return report("\(Self.describe(value)) is no array\(limit)")
            }
            guard hasAgain(elements, value) else { return }
            for (index, element) in elements.enumerated() where !isGivenUp {
                at(.index(index)) { $0.checkElement(element, property) { [$0] as [Any?] } }
            }
        }
    }

    /// Whether a sequence, whose elements were read here, has them again when they are to be stored.
    private mutating func hasAgain(_ elements: [Any?], _ sequence: Any) -> Bool {
        if elements.isEmpty || ValueReader.isPlain(sequence) || sequence is any Collection { return true }
        if ValueReader.elements(of: sequence, limit: elements.count + 1)?.count == elements.count { return true }
        report("the sequence can be gone over once only: give an array of its elements")
        return false
    }

    private mutating func checkElement(_ element: Any?, _ property: ModelProperty, wrapped: (Any?) -> Any) {
        switch property.shape.kind {
        case .any: checkAny(element, depth: 0, isInSet: property.shape.collection == .set)
        case .object:
            if let value = ValueReader.unwrap(element), isObjectInput(value) { return checkLink(value, property) }
            fallthrough
        default:
            if Self.fits(wrapped(element), property.valueType) { return }
            report("\(Self.describe(element)) is no '\(property.schema.typeDescription)' element")
        }
    }

    private mutating func checkName(_ name: String) {
        if let problem = Map<String, AnyRealmValue>.problem(of: name) { report(problem) }
    }

    private mutating func checkAny(_ value: Any?, depth: Int, isInSet: Bool = false) {
        if isGivenUp { return }
        var content = ValueReader.unwrap(value)
        if let any = content as? AnyRealmValue { content = any.content }
        guard let content, canRead(elementsOf: content) else { return }
        if let object = ValueReader.object(content) {
            guard canRead(object) else { return }
            // One of this realm may be dynamic: its class is that of its row.
            guard object is Object, object.tableAccessor?.info.isEmbedded != true,
                object.core === core || object.core == nil && core.accessor(for: type(of: object)) != nil
            else { return report("\(Self.describe(object)) cannot be a value here") }
            // It is added as it is.
            if object.core == nil { _ = canReadProperties(of: object) }
            return
        }
        let entries = ValueReader.entries(of: content)
        let elements = entries == nil && !(content is String) ? ValueReader.elements(of: content) : nil
        if isInSet, entries != nil || elements != nil {
            return report("\(Self.describe(value)) cannot be an element here: \(AnyRealmValue.setMessage)")
        }
        if let entries {
            if depth >= MixedFormat.depthLimit { return giveUp(AnyRealmValue.depthMessage) }
            for (name, element) in entries where !isGivenUp {
                at(.name(name)) { check in
                    check.checkName(name)
                    check.checkAny(element, depth: depth + 1)
                }
            }
        } else if let elements {
            if depth >= MixedFormat.depthLimit { return giveUp(AnyRealmValue.depthMessage) }
            guard hasAgain(elements, content) else { return }
            for (index, element) in elements.enumerated() where !isGivenUp {
                at(.index(index)) { $0.checkAny(element, depth: depth + 1) }
            }
        } else if AnyRealmValue._unboxed(content) == nil {
            report("\(Self.describe(content)) cannot be a value of any kind")
        }
    }
}
