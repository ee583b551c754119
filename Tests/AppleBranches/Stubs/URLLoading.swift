// swift-format-ignore-file
// What Foundation has on Apple's systems and not here. It is imported into every file.
@_exported public import Foundation

public struct URLRequest: Sendable {
    public enum CachePolicy: Sendable { case reloadIgnoringLocalCacheData }
    public var url: URL?
    public var httpMethod: String?
    public var httpBody: Data?
    public var httpBodyStream: InputStream? { nil }
    public var allHTTPHeaderFields: [String: String]?
    public var timeoutInterval = 60.0
    public init(url: URL, timeoutInterval: Double = 60) {}
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
}
public struct URLError: Error {
    public struct Code: Sendable {
        public static let badURL = Code()
        public static let timedOut = Code()
        public static let unknown = Code()
        public static let badServerResponse = Code()
    }
    public init(_ code: Code) {}
}
open class URLResponse: @unchecked Sendable {
    init() {}
}
public final class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) {}
    public var statusCode: Int { 0 }
    public var allHeaderFields: [AnyHashable: Any] { [:] }
}
public final class HTTPCookieStorage {}
public final class URLCache {}
public final class URLCredentialStorage {}
public final class URLSessionConfiguration {
    public static var ephemeral: URLSessionConfiguration { URLSessionConfiguration() }
    public var httpCookieStorage: HTTPCookieStorage?
    public var httpShouldSetCookies = true
    public var urlCache: URLCache?
    public var urlCredentialStorage: URLCredentialStorage?
    public var requestCachePolicy = URLRequest.CachePolicy.reloadIgnoringLocalCacheData
}
open class URLSessionTask: @unchecked Sendable {}
public protocol URLSessionTaskDelegate: NSObjectProtocol, Sendable {}
public final class URLSession: Sendable {
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, *)
    public struct AsyncBytes: AsyncSequence, Sendable {
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async throws -> UInt8? { nil }
        }
        public func makeAsyncIterator() -> Iterator { Iterator() }
    }
    public init(configuration: URLSessionConfiguration) {}
    @available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, *)
    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) { (AsyncBytes(), URLResponse()) }
}
