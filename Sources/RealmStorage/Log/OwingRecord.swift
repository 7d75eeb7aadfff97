/// The record of a commit that has joined a group which is not sealed: once it is durable, the commit is, and owes its pages.
package struct OwingRecord: Sendable {
    package let entry: CommitLog.Entry
    /// The space for the pages of the group, up to this commit.
    let space: OwedSpace
}
