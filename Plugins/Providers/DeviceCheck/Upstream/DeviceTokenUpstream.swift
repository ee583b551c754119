public import AssayKit

/// A vendor's service that knows whether an opaque device token is genuine: how it is asked, and what its answers mean.
public protocol DeviceTokenUpstream: Sendable {
    /// The server that is asked. All apps that ask one server share its bounds and its circuit breaker.
    var server: EndpointURL { get }

    /// Whether it keeps two bits for each device, which can be asked for and set.
    var keepsBits: Bool { get }

    /// The token in the one form that it is sent and remembered in; nil when it is none of the vendor's.
    ///
    /// Two spellings of one token must have one form, or it could be exchanged twice.
    func canonical(_ deviceToken: String) -> String?

    /// What requests are authorised with now; another one than `refused`, which the vendor did not take, where there is
    /// another, and the same otherwise. An ``UpstreamFailure`` that it throws is the outcome.
    func credential(at now: Instant, insteadOf refused: String?) async throws -> String

    /// The request that asks; `credential` is what it is authorised with. Its time limit is set by the appraiser.
    func request(_ question: DeviceQuestion, credential: String, at now: Instant) throws -> OutboundRequest

    /// What an answer means. Whatever is not known to be about the token is ``DeviceAnswer/undecided(_:)``.
    func read(_ response: OutboundResponse, to question: DeviceQuestion, at now: Instant) -> DeviceAnswer
}
