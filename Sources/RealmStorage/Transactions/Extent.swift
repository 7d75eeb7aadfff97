/// A stretch of neighbouring pages.
package struct Extent: Hashable, Sendable {
    package var page: PageNumber
    package var pageCount: UInt32

    package init(page: PageNumber, pageCount: UInt32) {
        self.page = page
        self.pageCount = pageCount
    }

    /// The first page behind the extent.
    package var end: PageNumber { page &+ pageCount }

    /// Whether it holds all pages of another one, whatever its length is said to be.
    func contains(_ other: Extent) -> Bool {
        page <= other.page && Int(other.page) + Int(other.pageCount) <= Int(page) + Int(pageCount)
    }
}

/// Pages that no newer version needs: written by version `birth`, given up by version `death`.
///
/// A reader that stands at a version in `birth..<death` still needs them.
struct RetiredExtent: Hashable, Sendable {
    var extent: Extent
    var birth: UInt64
    var death: UInt64
}
