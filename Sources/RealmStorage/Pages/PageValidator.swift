/// The structural check of a run of pages, made once when the run is first touched, so that the hot loops that follow
/// need no bounds checks.
enum PageValidator {
    /// What is wrong with a run, or nil.
    static func reason(_ page: UnsafeRawBufferPointer) -> String? {
        guard let kind = PageKind(rawValue: page[PageHeader.kindOffset]) else { return "its kind is unknown" }
        switch kind {
        case .fileHeader: return "a header page stands where data should be"
        case .clusterNode: return ClusterValidation.validateNode(page)
        case .clusterInner: return InnerView.validate(page)
        case .column: return ClusterValidation.validateColumn(page)
        case .byteTreeLeaf, .byteTreeInner: return KeyedPage.validate(page)
        case .sequenceLeaf, .sequenceInner: return SequencePage.validate(page)
        case .overflow: return Overflow.validate(page)
        default: return nil
        }
    }
}
