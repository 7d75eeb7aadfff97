/// Ends the process over a programmer's error, with a sentence that names the remedy.
///
/// The standard library's `preconditionFailure` drops its message in optimised builds, which is where servers run; this
/// one always prints it.
@usableFromInline
@inline(never)
func misuse(_ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line) -> Never {
    // The one place that ends the process for a programmer's error.
    fatalError(message(), file: file, line: line)
}
