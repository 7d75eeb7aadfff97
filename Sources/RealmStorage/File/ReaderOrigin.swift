/// Where in the program a reader came from, for messages about who pins a version.
package struct ReaderOrigin: Sendable, Equatable {
    /// Module and file.
    package let fileID: StaticString
    package let line: UInt

    package init(fileID: StaticString, line: UInt) {
        self.fileID = fileID
        self.line = line
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.line == right.line && left.fileID.utf8Start == right.fileID.utf8Start
    }
}

extension ReaderOrigin: CustomStringConvertible {
    package var description: String { "\(fileID):\(line)" }
}
