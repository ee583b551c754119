internal import AssayKit

/// A vendor's service that knows whether an opaque device token is genuine: how it is asked, and what its answers mean.
///
/// Retries, deadlines, bounds and the circuit breaker are the same for all; see ``DeviceTokenCheck``.
protocol DeviceTokenUpstream: Sendable {
    /// The token in the one form that it is sent and remembered in; nil when it is none of the vendor's.
    func canonical(_ deviceToken: String) -> String?

    /// The request that asks; `credential` is what it is authorised with.
    func request(_ question: DeviceQuestion, credential: String, at now: Instant) throws -> OutboundRequest

    /// What requests are authorised with now; another one than `refused`, which the vendor did not take.
    func credential(at now: Instant, insteadOf refused: String?) throws -> String

    /// What an answer means.
    func read(_ response: OutboundResponse, to question: DeviceQuestion, at now: Instant) -> DeviceAnswer
}
