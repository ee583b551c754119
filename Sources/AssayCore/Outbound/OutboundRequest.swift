/// A request to another server, and how long and how large the answer may be.
public struct OutboundRequest: Sendable, Hashable {
    /// The method of the request (RFC 9110, section 9).
    public enum Method: String, Sendable, Hashable, CaseIterable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// The HTTP method.
    public var method: Method
    /// The URL that is called.
    public var url: EndpointURL
    /// In the order in which they are sent; `Host` and `Content-Length` are set by the client.
    public var headers: [OutboundHeader]
    /// The bytes of the body; empty for none.
    public var body: [UInt8]
    /// How long the whole call may take, from waiting for a connection to the last byte of the answer.
    public var timeLimit: Duration
    /// The most bytes that the body of the answer may have.
    public var responseLimit: Int

    /// Makes a request; by default it may take 10 seconds, and the response 64 KiB.
    public init(
        _ method: Method, _ url: EndpointURL, headers: [OutboundHeader] = [], body: [UInt8] = [],
        timeLimit: Duration = .seconds(10), responseLimit: Int = 64 * 1024
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeLimit = timeLimit
        self.responseLimit = responseLimit
    }

    /// The value of the first header with a name, in any letter case.
    public func header(_ name: String) -> String? {
        headers.value(of: name)
    }
}

/// One header field of a request or a response.
public struct OutboundHeader: Sendable, Hashable {
    /// The field's name; its letter case has no meaning (RFC 9110, section 5.1).
    @Exact public private(set) var name: String
    /// The field's value.
    @Exact public private(set) var value: String

    /// Makes a header field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [OutboundHeader] {
    /// The value of the first one with a name; names are ASCII and have no case (RFC 9110, section 5.1).
    func value(of name: String) -> String? {
        let wanted = [UInt8](name.utf8)
        return first { header in
            header.name.utf8.count == wanted.count
                && zip(header.name.utf8, wanted).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
        }?.value
    }
}
