// swift-format-ignore-file
// Foundation's own loading of URLs on Linux, and what it does not have of Apple's.
@_exported public import Foundation
@_exported public import FoundationNetworking

extension URLSession {
    public struct AsyncBytes: AsyncSequence, Sendable {
        let data: Data
        public struct Iterator: AsyncIteratorProtocol {
            var bytes: Data.Iterator
            public mutating func next() async throws -> UInt8? { bytes.next() }
        }
        public func makeAsyncIterator() -> Iterator { Iterator(bytes: data.makeIterator()) }
    }

    /// Here a session with a delegate: the delegate of a task of its own is not asked about redirects on Linux.
    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        try await withCheckedThrowingContinuation { continuation in
            let collector = Collector(delegate, continuation)
            let session = URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
            session.dataTask(with: request).resume()
            session.finishTasksAndInvalidate()
        }
    }
}

private final class Collector: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let delegate: (any URLSessionTaskDelegate)?
    private let continuation: CheckedContinuation<(URLSession.AsyncBytes, URLResponse), any Error>
    private var data = Data()

    init(
        _ delegate: (any URLSessionTaskDelegate)?,
        _ continuation: CheckedContinuation<(URLSession.AsyncBytes, URLResponse), any Error>
    ) {
        (self.delegate, self.continuation) = (delegate, continuation)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let delegate else { return completionHandler(request) }
        delegate.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request,
            completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { self.data += data }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let response = task.response, error == nil {
            continuation.resume(returning: (URLSession.AsyncBytes(data: data), response))
        } else {
            continuation.resume(throwing: error ?? URLError(.unknown))
        }
    }
}
