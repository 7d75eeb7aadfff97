/// Ends the process in a member that every subclass overrides; the message names it.
///
/// Swift has no abstract members, and a protocol does not do everywhere: where thousands are asked one after the other, a class
/// member is called through one table, without the copies and witness look-ups of an existential; and a class without type
/// parameters stands for its generic subclasses where these are kept side by side. Nobody makes instances of such a class
/// itself, so that this is reached only by a subclass that forgot a member: a fault of the library, never of a program.
@inline(never)
func mustOverride(_ member: StaticString = #function, file: StaticString = #fileID, line: UInt = #line) -> Never {
    // There is no value to return, and no caller that could go on.
    fatalError("\(member) has to be overridden by every subclass.", file: file, line: line)
}
