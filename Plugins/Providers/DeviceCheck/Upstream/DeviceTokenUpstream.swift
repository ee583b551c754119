public import AssayCore
public import AssayKit

/// A vendor's service that knows whether an opaque device token is genuine: its requests, and the meaning of its
/// answers.
public protocol DeviceTokenUpstream: Sendable {
    /// The server that is asked. All apps that ask one server share its bounds and its circuit breaker.
    var server: EndpointURL { get }

    /// Whether it keeps two bits for each device, which can be asked for and set.
    var keepsBits: Bool { get }

    /// The token in the one form that is sent and remembered; nil when it is not a token of the vendor.
    ///
    /// Two spellings of one token must have one form, or it could be exchanged twice.
    func canonical(_ deviceToken: String) -> String?

    /// The credential for requests now; if the vendor did not accept `refused`, a different one if there is one. An
    /// `UpstreamFailure` that it throws is the outcome.
    func credential(at now: Instant, insteadOf refused: String?) async throws -> String

    /// The request for a question; `credential` authorises it. The appraiser sets its time limit.
    func request(_ question: DeviceQuestion, credential: String, at now: Instant) throws -> OutboundRequest

    /// The meaning of an answer, with the bits if they were requested.
    ///
    /// - Throws: `UpstreamFailure` for an answer that is not clearly about the token.
    func read(_ response: OutboundResponse, to question: DeviceQuestion) throws -> UpstreamVerdict<DeviceBits?>
}

/// What a vendor is asked about a device.
public struct DeviceQuestion: Sendable, Hashable {
    /// The kinds of questions.
    public enum Kind: Sendable, Hashable {
        /// Whether the token is genuine.
        case validate
        /// That, and which bits are set.
        case query
        /// Sets the bits that are not nil.
        case update(bit0: Bool?, bit1: Bool?)
    }

    /// The kind of question.
    public let kind: Kind
    /// In its canonical form.
    @Exact public private(set) var deviceToken: String
    /// 32 hexadecimal digits, the same for all tries of one question.
    @Exact public private(set) var transaction: String

    init(_ kind: Kind, _ deviceToken: String, randomness: Randomness) {
        self.kind = kind
        self.deviceToken = deviceToken
        transaction = Hex.encode(randomness.bytes(16))
    }
}
