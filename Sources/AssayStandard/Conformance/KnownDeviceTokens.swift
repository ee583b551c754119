#if Simulator
internal import AssayCore
internal import AssayTesting
internal import Synchronization

/// A simulated Apple that knows exactly the device tokens that it made.
final class KnownDeviceTokens: Sendable {
    /// The tokens, with the first bit of their devices; nil for devices without bits.
    private let made = Mutex<[ExactText: Bool?]>([:])

    /// What Apple says of a token that it does not know.
    static let denial = OutboundResponse(
        status: 400, body: Array("Missing or incorrectly formatted device token payload".utf8))

    /// A token that nobody used.
    ///
    /// - Parameter bit0: the first bit that Apple keeps of the device; nil for none.
    func make(bit0: Bool? = nil) -> String {
        made.withLock { made in
            let token = SimulatedAppleServer.deviceToken(of: "device", number: 1_000_000 + made.count)
            made.updateValue(bit0, forKey: ExactText(token))
            return token
        }
    }

    /// Answers as Apple does (Apple, Accessing and Modifying Per-Device Data).
    func answer(_ request: OutboundRequest) -> OutboundResponse {
        let token = (try? JSON.parse(request.body))?["device_token"]?.string
        guard let token, let device = made.withLock({ $0[ExactText(token)] }) else { return Self.denial }
        // A valid token is said by nothing more, and a device without bits in words.
        guard request.url.path.isExactly("/v1/query_two_bits") else { return OutboundResponse(status: 200) }
        guard let bit0 = device else {
            return OutboundResponse(status: 200, body: Array("Failed to find bit state".utf8))
        }
        let bits: JSON = ["bit0": .bool(bit0), "bit1": false, "last_update_time": "2026-01"]
        return OutboundResponse(status: 200, body: bits.encoded)
    }
}
#endif
