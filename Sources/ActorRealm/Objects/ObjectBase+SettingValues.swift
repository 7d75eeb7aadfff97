nonisolated extension ObjectBase {
    /// Sets the properties that a dictionary names, and throws what ``setValue(_:forKey:)`` would trap on.
    ///
    /// It is meant for names and values from outside: nothing in them ends the process.
    ///
    /// ```swift
    /// try realm.write { try person.setValues(["name": "Ada", "age": 37]) }
    /// ```
    ///
    /// The realm's own lists, nested values and embedded objects among the values are read before anything is written, so that two of
    /// them can change places.
    ///
    /// When names or values do not fit, or are missing for an object that is made, nothing has changed. What is found later, as a value
    /// that another object has and that is to be unique, is thrown here and by the commit, too: the transaction can only be rolled back
    /// then, as a `write` block is that lets the error through.
    ///
    /// - Parameters:
    ///   - values: The values by property name. Nested dictionaries and arrays make the objects that this one links to.
    ///   - ignoringUnknownKeys: Whether keys that name no property are left out; they are errors otherwise.
    /// - Throws: `Realm.Error` with the code `.invalidInput` that names all values that do not fit, for an object that is not
    ///   managed, and outside a write transaction; `.duplicateValue`, `.duplicatePrimaryKey` of an object that is made;
    ///   `.limitExceeded`, `.invalidatedObject`, `.closed`, `.frozen`, `.readOnly`, `.wrongIsolation`.
    public final func setValues(_ values: [String: Any?], ignoringUnknownKeys: Bool = false) throws {
        guard let core, let accessor = tableAccessor else {
            throw Realm.Error(
                .invalidInput,
                "Values can be set on managed objects only: make one of them with "
                    + "`try realm.insert(Person.self, value: values)`."
            )
        }
        try core.requireTransaction(for: "setValues")
        try requireReadable()
        var check = InputCheck(core: core, ignoresUnknownKeys: ignoringUnknownKeys)
        try check.check(values, settingOn: self, accessor.info)
        try check.throwProblems(of: accessor.info)
        let context = CreateContext(core: core, policy: .error, undoes: true)
        do {
            try context.undoing { try context.update(rowKey, with: values, accessor) }
        } catch {
            let failure = core.insertionError(error)
            core.refuseCommit(because: failure)
            throw failure
        }
        core.noteWrite()
    }
}
