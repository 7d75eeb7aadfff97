/// Where a managed wrapper keeps the address of the object that it is a part of.
///
/// Encoding that the compiler writes hands the wrappers to the encoder without their object. So those of `Encodable`
/// classes know it: the address, whose low four bits are zero, stands in the upper half of a wrapper's first word and in
/// its second one. The reference is not counted; a copy of a wrapper is used only while its object is alive.
enum OwnerAddress {
    /// The object of a managed wrapper; nil when it keeps none.
    static func object(_ word: UInt32, _ address: UInt32) -> ObjectBase? {
        let bits = UInt(address) | UInt(word >> 16) << 32
        guard let pointer = UnsafeRawPointer(bitPattern: bits << 4) else { return nil }
        return Unmanaged<ObjectBase>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// Writes the address and the ordinal + 1 to a managed wrapper of any type, whose first two words they are.
    static func store(_ object: ObjectBase, key: UInt32, at wrapper: UnsafeMutableRawPointer) {
        let bits = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) >> 4
        // An address that does not fit is left out, and encoding says so.
        guard bits < 1 << 47 else { return }
        wrapper.storeBytes(of: key | UInt32(truncatingIfNeeded: bits >> 32) << 16, as: UInt32.self)
        wrapper.storeBytes(of: UInt32(truncatingIfNeeded: bits), toByteOffset: 4, as: UInt32.self)
    }
}
