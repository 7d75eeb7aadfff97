/// Verifies a run of pages on this process's first touch of it.
@usableFromInline
package final class PageVerifier: @unchecked Sendable {
    func pointer(to reference: PageReference, in view: PageView) throws(StorageError) -> UnsafeRawPointer {
        preconditionFailure("stub")
    }
}
