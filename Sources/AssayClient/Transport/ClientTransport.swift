/// Sends one request and returns the response: `URLSessionTransport` on Apple's systems, `HTTPClientTransport` of
/// `AssayClientHTTP`, or one of the program's own.
///
/// What an implementation must keep:
///
/// - It follows no redirect: a response with a status of 300 to 399 is returned as it is.
/// - It keeps no cookies and no cache, and verifies the server's certificate.
/// - It throws when the whole response is not there within `timeLimit`, and a ``ResponseTooLong`` when its body exceeds
///   `responseLimit`. It does not read further then.
/// - It stops when the task is cancelled.
public protocol ClientTransport: Sendable {
    /// Sends a request.
    ///
    /// - Throws: any error when there is no response. The library calls it ``AppCheckError/Code/unreachable``, and a
    ///   ``ResponseTooLong`` ``AppCheckError/Code/malformedReply``.
    func send(_ request: ClientRequest) async throws -> ClientResponse
}

/// A transport's error for a response with more bytes than the request allows.
///
/// A server that answers so has answered: the library pauses as after another malformed reply.
public struct ResponseTooLong: Error {
    /// Makes an error.
    public init() {}
}

/// A field of a header.
public struct ClientHeader: Sendable {
    /// The name, in any case.
    public let name: String
    /// The value.
    public let value: String

    /// Makes a field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request over HTTP.
public struct ClientRequest: Sendable {
    /// The method, such as `POST`.
    public var method: String
    /// The whole URL, which is `https`, or `http` to this machine.
    public var url: String
    /// The header, without `Host` and `Content-Length`.
    public var headers: [ClientHeader]
    /// The body; empty for none.
    public var body: [UInt8]
    /// How long it may take, the response included.
    public var timeLimit: Interval
    /// The most bytes that the body of the response may have.
    public var responseLimit: Int

    /// Makes a request.
    public init(
        method: String = "GET", url: String, headers: [ClientHeader] = [], body: [UInt8] = [],
        timeLimit: Interval = .seconds(30), responseLimit: Int = 65_536
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeLimit = timeLimit
        self.responseLimit = responseLimit
    }
}

/// A response over HTTP.
public struct ClientResponse: Sendable {
    /// The status.
    public var status: Int
    /// The header.
    public var headers: [ClientHeader]
    /// The body.
    public var body: [UInt8]

    /// Makes a response.
    public init(status: Int, headers: [ClientHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first field of a name, in any case; nil without one.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.loweredASCII.sameBytes(as: name.loweredASCII) }?.value
    }
}
