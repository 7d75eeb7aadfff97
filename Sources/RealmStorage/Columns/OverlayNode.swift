/// A child in the part of a cluster tree that a write transaction has loaded.
enum OverlayChild {
    /// Not touched: a node in pages.
    case sealed(PageReference)
    /// A loaded inner node.
    case node(OverlayNode)
    /// An open cluster.
    case cluster(OpenCluster)
}

/// An inner node that a write transaction has loaded because something below it changes.
///
/// While it is loaded it may have any number of children; it is divided when it is encoded. It has one user, the writer of its table,
/// who calls nothing out while it changes a list.
final class OverlayNode {
    let level: Int
    /// Lower bounds of the children's keys, exact for those that are sealed.
    @exclusivity(unchecked) var keys: [Int64] = []
    /// The children's row counts.
    ///
    /// That of the tail lags behind while it is being appended to.
    @exclusivity(unchecked) var counts: [Int] = []
    @exclusivity(unchecked) var children: [OverlayChild] = []
    /// The page that the node was loaded from, to be freed when it has been encoded.
    @exclusivity(unchecked) var origin: PageReference

    init(level: Int, origin: PageReference = .none) {
        self.level = level
        self.origin = origin
    }

    /// Loads a sealed node.
    init(loading base: UnsafeRawPointer, level: Int, origin: PageReference) {
        self.level = level
        self.origin = origin
        let node = InnerView(base: base)
        let count = node.count
        keys.reserveCapacity(count + 1)
        counts.reserveCapacity(count + 1)
        children.reserveCapacity(count + 1)
        for index in 0..<count {
            append(
                key: node.key(index),
                count: node.end(index) - node.end(index - 1),
                child: .sealed(node.reference(index))
            )
        }
    }

    var rowCount: Int { counts.reduce(0, +) }

    func append(key: Int64, count: Int, child: OverlayChild) {
        keys.append(key)
        counts.append(count)
        children.append(child)
    }

    func remove(at index: Int) {
        keys.remove(at: index)
        counts.remove(at: index)
        children.remove(at: index)
    }

    /// The child whose key range holds a key; the first one for keys before all.
    func child(for key: Int64) -> Int {
        var low = 0
        var length = keys.count
        while length > 1 {
            let half = length >> 1
            low = keys[low + half] <= key ? low + half : low
            length -= half
        }
        return low
    }
}
