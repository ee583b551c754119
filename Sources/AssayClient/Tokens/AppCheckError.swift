/// The reason why there is no token, and what to do about it.
///
/// Compare ``code``. ``description`` is for a log: it has no token, no key and no evidence.
public struct AppCheckError: Error, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    ///
    /// New versions may add kinds: handle the others by ``AppCheckError/isTransient``.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Name: Sendable {
            case invalidConfiguration, unreachable, timedOut, refused, notConfigured, rejected, throttled, unavailable
            case redirected, malformedReply, foreignToken, expiredOnArrival, unsupportedDevice, deviceFailed
            case providerFailed, keyChanged, tooManyCallers, insecure, cancelled
        }

        private let name: Name

        /// The name of the kind.
        public var description: String { "\(name)" }

        /// `app`, `endpoint` or another setting is malformed.
        public static let invalidConfiguration = Code(name: .invalidConfiguration)
        /// No connection, no answer in time, or a failed TLS handshake.
        public static let unreachable = Code(name: .unreachable)
        /// The provider did not finish in time.
        public static let timedOut = Code(name: .timedOut)
        /// The server refused the evidence (403): an operator finds the reason by the ``AppCheckError/decision``.
        public static let refused = Code(name: .refused)
        /// The server does not know the app, or has no such provider for it.
        public static let notConfigured = Code(name: .notConfigured)
        /// The server rejected the request as such, which another try does not mend.
        public static let rejected = Code(name: .rejected)
        /// The server asks for fewer requests (429).
        public static let throttled = Code(name: .throttled)
        /// The server cannot decide now (5xx).
        public static let unavailable = Code(name: .unavailable)
        /// The server sends its callers elsewhere, which is not followed.
        public static let redirected = Code(name: .redirected)
        /// The reply is not what the method declares.
        public static let malformedReply = Code(name: .malformedReply)
        /// The token is of another app.
        public static let foreignToken = Code(name: .foreignToken)
        /// The token had ended when it arrived.
        public static let expiredOnArrival = Code(name: .expiredOnArrival)
        /// The device cannot make this kind of evidence.
        public static let unsupportedDevice = Code(name: .unsupportedDevice)
        /// The device failed to make evidence.
        public static let deviceFailed = Code(name: .deviceFailed)
        /// A provider of the app's own failed; see ``AppCheckError/cause``.
        public static let providerFailed = Code(name: .providerFailed)
        /// The device has another key than the token names: a new token mends it.
        public static let keyChanged = Code(name: .keyChanged)
        /// More callers wait than the library keeps.
        public static let tooManyCallers = Code(name: .tooManyCallers)
        /// A token would have left the device unprotected, or in a URL.
        public static let insecure = Code(name: .insecure)
        /// The caller's task was cancelled.
        public static let cancelled = Code(name: .cancelled)
    }

    /// The kind of the error.
    public let code: Code
    /// What happened and what to do, for a developer.
    public let message: String
    /// The identifier under which the server's operator finds the reason; nil when no server decided.
    public internal(set) var decision: String?
    /// The status of the server's reply; nil when there was none.
    public internal(set) var status: Int?
    /// How long nothing is sent for this app, as the server asked or the backoff has it; nil when the next call is sent.
    public internal(set) var retryAfter: Interval?
    /// The error below this one.
    public internal(set) var cause: (any Error)?

    /// Makes an error, as a provider of the app's own may throw it.
    ///
    /// - `retryAfter`: how long the library shall not ask the provider again.
    public init(
        _ code: Code, _ message: String, decision: String? = nil, status: Int? = nil, retryAfter: Interval? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.decision = decision
        self.status = status
        self.retryAfter = retryAfter
        self.cause = cause
    }

    /// Whether a later try can succeed without a change of the app, the device or the server's policy.
    public var isTransient: Bool {
        let lasting: [Code] = [
            .invalidConfiguration, .refused, .notConfigured, .rejected, .redirected, .foreignToken, .unsupportedDevice,
            .insecure,
        ]
        return !lasting.contains(code)
    }

    /// The kind, the message, the status, the decision and the wait.
    public var description: String {
        var text = "\(code): \(message)"
        if let status { text += " Status \(status)." }
        if let decision { text += " Decision \(decision)." }
        if let retryAfter { text += " Nothing is sent for \(retryAfter)." }
        if let cause { text += " Cause: \(ShownText.of("\(cause)"))" }
        return text
    }

    static let cancelled = AppCheckError(.cancelled, "The caller's task was cancelled; others are not affected.")
}
