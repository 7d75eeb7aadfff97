import RealmModel

/// The elements of an unmanaged set: those that a managed one keeps.
///
/// They are known by what does not change while they are in the set, as a hash needs it: an object, which may be added to a realm
/// meanwhile, by itself, and by its row where it has one.
struct UnmanagedElements<Element: RealmCollectionValue> {
    /// In order of insertion.
    private(set) var inOrder: [Element] = []
    /// Of each of them: what it was known by when it was put in.
    private var order: [Member] = []
    private var members: Set<Member> = []
    /// Objects by their rows.
    private var managed: [Row: ObjectBase] = [:]
    /// Objects that had no row when that was looked at last.
    private var unmanaged: [ObjectBase] = []

    private enum Member: Hashable {
        case value(StoredValue)
        case object(ObjectIdentifier)
        case other(Element)

        init(_ element: Element) {
            if let key = Element._setKey(element) {
                self = .value(key.value)
            } else {
                self = UnmanagedElements.object(in: element).map { .object(ObjectIdentifier($0)) } ?? .other(element)
            }
        }
    }

    private struct Row: Hashable {
        let table: ObjectIdentifier
        let key: Int64

        /// Nil for an unmanaged object.
        init?(_ object: ObjectBase) {
            guard object.core != nil, let accessor = object.tableAccessor else { return nil }
            table = ObjectIdentifier(accessor.table)
            key = object.rowKey
        }
    }

    func contains(_ element: Element) -> Bool {
        let member = Member(element)
        return members.contains(member) || accessor(of: element, member) != nil
    }

    mutating func insert(_ element: Element) {
        let member = Member(element)
        noteRows(for: element, member)
        if members.contains(member) || accessor(of: element, member) != nil { return }
        members.insert(member)
        inOrder.append(element)
        order.append(member)
        guard case .object = member, let object = UnmanagedElements.object(in: element) else { return }
        if let row = Row(object) { managed[row] = object } else { unmanaged.append(object) }
    }

    mutating func remove(_ element: Element) {
        var member = Member(element)
        noteRows(for: element, member)
        if !members.contains(member) {
            guard let object = accessor(of: element, member) else { return }
            member = .object(ObjectIdentifier(object))
        }
        drop(member)
        guard case .object(let identity) = member else { return }
        unmanaged.removeAll { ObjectIdentifier($0) == identity }
        managed = managed.filter { ObjectIdentifier($0.value) != identity }
    }

    /// The element that is an accessor of the same row as another one; nil where there is none.
    private func accessor(of element: Element, _ member: Member) -> ObjectBase? {
        guard case .object = member, let object = UnmanagedElements.object(in: element), let row = Row(object)
        else { return nil }
        if let known = managed[row] { return known.isSameObject(as: object) ? known : nil }
        return unmanaged.first { $0.isSameObject(as: object) }
    }

    /// Notes the rows of the objects that have got one, for who looks for a row.
    private mutating func noteRows(for element: Element, _ member: Member) {
        guard case .object = member, !unmanaged.isEmpty, let object = UnmanagedElements.object(in: element),
            object.core != nil
        else { return }
        var others: [ObjectBase] = []
        unmanaged.removeAll { object in
            guard let row = Row(object) else { return false }
            // Two objects with one primary key may have become accessors of one row.
            if managed[row] == nil { managed[row] = object } else { others.append(object) }
            return true
        }
        for object in others { drop(.object(ObjectIdentifier(object))) }
    }

    private mutating func drop(_ member: Member) {
        members.remove(member)
        guard let position = order.firstIndex(of: member) else { return }
        order.remove(at: position)
        inOrder.remove(at: position)
    }

    private static func object(in element: Element) -> ObjectBase? {
        if case .object(let object) = element as? AnyRealmValue { return object }
        return Element._elementKey(element)?.object
    }
}
