import CRealmShims

/// A weak reference that costs its object nothing.
///
/// A `weak` variable moves the object's reference counts to a side table, where each retain and release of it takes several
/// times as long, for the rest of its life. This one is an unowned reference, which is counted in the object, and asks
/// before it retains; the price is that the memory of the object (not what it refers to) stays until the reference goes.
///
/// For classes of the library that many threads or many objects retain. As with `weak`, reading while the object is let go
/// of elsewhere is safe.
package struct WeakReference<Object: AnyObject> {
    /// Keeps the memory; never read, because that would trap where ``object`` is nil.
    private unowned let anchor: Object
    private let address: UnsafeMutableRawPointer

    package init(_ object: Object) {
        anchor = object
        address = Unmanaged.passUnretained(object).toOpaque()
    }

    /// The object, while something else holds it.
    package var object: Object? {
        // Balanced: what was retained is handed on as such.
        crealm_try_retain(address) ? Unmanaged<Object>.fromOpaque(address).takeRetainedValue() : nil
    }
}

// The pointer is to the object, which may be read wherever the object may be sent to.
extension WeakReference: @unchecked Sendable where Object: Sendable {}
