#if Simulator
internal import AssayCore
internal import AssayTesting
internal import Synchronization

/// A simulated Apple that knows exactly the device tokens that it made.
final class KnownDeviceTokens: Sendable {
    private let made = Mutex<Set<ExactText>>([])

    /// A token that nobody used.
    func make() -> String {
        made.withLock { made in
            let token = SimulatedAppleServer.deviceToken(of: "device", number: 1_000_000 + made.count)
            made.insert(ExactText(token))
            return token
        }
    }

    /// Answers as Apple does (Apple, Accessing and Modifying Per-Device Data).
    func answer(_ request: OutboundRequest) -> OutboundResponse {
        let token = (try? JSON.parse(request.body))?["device_token"]?.string
        guard let token, made.withLock({ $0.contains(ExactText(token)) }) else {
            return OutboundResponse(
                status: 400, body: Array("Missing or incorrectly formatted device token payload".utf8))
        }
        // A valid token is said by nothing more, and a device without bits in words.
        let isQuery = request.url.path.isExactly("/v1/query_two_bits")
        return OutboundResponse(status: 200, body: isQuery ? Array("Failed to find bit state".utf8) : [])
    }
}
#endif
