import Foundation

/// A stream of bytes, read in blocks: a file, or what a program prints.
package final class ByteSource {
    /// The stream could not be read.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String

        /// A failure with a sentence about it.
        package init(description: String) {
            self.description = description
        }
    }

    private let handle: FileHandle
    private let program: Process?
    private let name: String

    /// A file as it is.
    package init(file path: String) throws {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw Failure(description: "\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        self.handle = handle
        program = nil
        name = path
    }

    /// The standard output of a program.
    package init(program path: String, arguments: [String]) throws {
        let pipe = Pipe()
        let program = Process()
        program.executableURL = URL(fileURLWithPath: path)
        program.arguments = arguments
        program.standardOutput = pipe
        program.standardInput = FileHandle.nullDevice
        try program.run()
        handle = pipe.fileHandleForReading
        self.program = program
        name = ([path] + arguments).joined(separator: " ")
    }

    deinit {
        program?.terminate()
    }

    /// Fills the buffer as far as one read does; 0 is the end.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            #if canImport(Glibc)
            let count = Glibc.read(handle.fileDescriptor, buffer.baseAddress, buffer.count)
            #else
            let count = Foundation.read(handle.fileDescriptor, buffer.baseAddress, buffer.count)
            #endif
            if count > 0 { return count }
            if count == 0 {
                try checkExit()
                return 0
            }
            guard errno == EINTR else {
                throw Failure(description: "\(name) cannot be read: \(String(cString: strerror(errno)))")
            }
        }
    }

    private func checkExit() throws {
        guard let program else { return }
        program.waitUntilExit()
        guard program.terminationStatus == 0 else {
            throw Failure(description: "\(name) ended with status \(program.terminationStatus)")
        }
    }
}
