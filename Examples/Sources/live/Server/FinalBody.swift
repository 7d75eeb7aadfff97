import FlyingSocks
import Foundation

/// The body of a last answer: sent whole, after which the connection ends.
struct FinalBody: AsyncBufferedSequence, AsyncBufferedIteratorProtocol {
    typealias Element = UInt8

    private var data: Data?

    init(_ data: Data) {
        self.data = data
    }

    func makeAsyncIterator() -> FinalBody { self }

    mutating func next() async throws -> UInt8? {
        guard let byte = data?.popFirst() else { throw SocketError.disconnected }
        return byte
    }

    mutating func nextBuffer(suggested count: Int) async throws -> Data? {
        guard let data else { throw SocketError.disconnected }
        self.data = nil
        return data
    }
}
