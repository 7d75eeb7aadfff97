/// A property on the way of a path, and the element with which the path goes on where that is a collection.
struct PathStep {
    /// The name of the property.
    let name: String
    /// The element; nil where the path is about the collection, or about each element.
    var element: Element?

    init(_ name: String) { self.name = name }

    /// One element of a collection.
    enum Element {
        case first
        case last
        case position(Int)
        case name(String)

        /// The position in a collection of so many elements; nil where it has no such element, and for a name.
        ///
        /// - Throws: `invalidInput` for a position that there is not, where others read as nil.
        func position(of count: Int) throws -> Int? {
            switch self {
            case .first: return count > 0 ? 0 : nil
            case .last: return count > 0 ? count - 1 : nil
            case .name: return nil
            case .position(let position):
                guard position >= 0, position < count else {
                    throw Realm.Error(.invalidInput, outOfBoundsMessage(position, count: count))
                }
                return position
            }
        }
    }

    /// Whether the path goes through a position of a collection, which need not be there where it is followed.
    var takesPosition: Bool {
        if case .position? = element { return true }
        return false
    }
}
