// What reflects a value that fails an expectation, or dumps it, goes through everything that the value holds. Behind an
// object, a collection or a realm that would be the whole engine, read while it changes, and nothing that tells anybody
// anything: it ends here.
extension RealmCore: CustomReflectable {
    @usableFromInline var customMirror: Mirror { Mirror(self, children: []) }
}

extension TableAccessor: CustomReflectable {
    @usableFromInline var customMirror: Mirror { Mirror(self, children: []) }
}
