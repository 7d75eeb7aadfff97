public import Foundation

extension ObjectIdError: LocalizedError {
    /// What is wrong with the text.
    public var errorDescription: String? { description }
}
