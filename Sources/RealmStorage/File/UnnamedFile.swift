import Glibc

/// A file without a name, until it gets one: it is gone when nobody has it, whatever becomes of the process.
package final class UnnamedFile: Sendable {
    let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }
}
