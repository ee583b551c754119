/// Why a call to another server has no response.
public struct OutboundFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong: a stable code, for logs and for metric labels.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code: lower-case letters and underscores.
        @Exact public private(set) var text: String

        /// Makes a code.
        public init(_ text: String) {
            self.text = text
        }

        /// Same as ``text``.
        public var description: String { text }

        /// The host has no HTTP client.
        public static let noClient = Code("no_client")
        /// The request cannot be sent as it is; another try is in vain.
        public static let invalidRequest = Code("invalid_request")
        /// No connection: the name is unknown, or no server listens there.
        public static let cannotConnect = Code("cannot_connect")
        /// Too many calls of the server wait for a connection already.
        public static let busy = Code("busy")
        /// The server's certificate is not valid for its name, or the TLS versions do not match.
        public static let tlsRefused = Code("tls_refused")
        /// The time limit was reached.
        public static let timedOut = Code("timed_out")
        /// The body of the response is longer than the request allows.
        public static let tooLarge = Code("too_large")
        /// The connection ended before the response did, or what came was not HTTP.
        public static let interrupted = Code("interrupted")
        /// The caller's task was cancelled.
        public static let cancelled = Code("cancelled")
        /// The client has been shut down.
        public static let closed = Code("closed")
    }

    /// The kind of failure.
    public let code: Code
    /// The exact failure, for an operator; of the request, only its destination.
    @Exact public private(set) var detail: String

    /// Makes a failure; `detail` is for operators and holds no secret.
    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// The code and the detail, for logs.
    public var description: String { "\(code): \(detail)" }
}
