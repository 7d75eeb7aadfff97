/// What the layer above keeps between the write transactions of one process, so that the next one finds it open.
///
/// It is dropped when another process wrote, when a commit failed, and when it does not fit what is being written.
package protocol WriterSession: AnyObject {
    /// Writes what the members of a group left unsealed, down to the catalog of the transaction.
    func seal(in transaction: WriteTransaction) throws(StorageError)
    /// Notes the root of the catalog that a group was sealed to.
    func didSeal(catalog: PageReference)
}
