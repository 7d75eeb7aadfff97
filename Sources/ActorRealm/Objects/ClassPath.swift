/// What a class is nested in, and the name that follows from it.
struct ClassPath {
    /// The names of the types around the class, outermost first, and its own.
    let components: [String]

    init(of type: ObjectBase.Type) {
        self.init(typeName: _typeName(type, qualified: true))
    }

    /// Reads the name of a type as the runtime spells it: `Module.Outer.Inner`.
    ///
    /// What stands in parentheses is no type that has a name: a function, a file, or where an extension is. What stands in angle
    /// brackets does not tell classes apart.
    init(typeName: String) {
        var components: [String] = []
        var current = ""
        var depth = 0
        var isNameless = false
        func end() {
            if !isNameless || !current.isEmpty { components.append(current) }
            current = ""
            isNameless = false
        }
        for character in typeName {
            switch character {
            case "(", "<":
                depth += 1
                if character == "(" { isNameless = true }
            case ")", ">": depth -= 1
            case "." where depth == 0: end()
            case _ where depth == 0: current.append(character)
            default: break
            }
        }
        end()
        // The module comes first.
        self.components = Array(components.dropFirst(components.count > 1 ? 1 : 0))
    }

    /// The name of the class in realms: `Outer_Inner`.
    var name: String { components.joined(separator: "_") }

    /// Under what names files may have the class that were written when it was called by its own name, or was nested less.
    var formerNames: [String] {
        components.indices.dropFirst().map { components[$0...].joined(separator: "_") }
    }
}
