/// The record of a commit that has joined a group which is not sealed: once it is durable, the commit is, and owes its pages.
package struct OwingRecord: Sendable {
    package let entry: CommitLog.Entry
    /// So many pages the file needs for those of the group, up to this commit, by an estimate.
    let neededPageCount: Int
}
