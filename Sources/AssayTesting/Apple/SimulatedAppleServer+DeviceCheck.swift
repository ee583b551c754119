internal import AssayKit
internal import Synchronization

extension SimulatedAppleServer {
    /// A device's bits, as far as they were ever set.
    struct DeviceBits: Sendable {
        var bit0 = false
        var bit1 = false
        /// `YYYY-MM`.
        var month: String
    }

    /// Makes a device token that is good for an environment; all tokens of one device share its bits.
    public static func deviceToken(of device: String, in environment: SimulatedEnvironment = .production) -> String {
        Base64.encode(Array("device-token:\(environment.receiptName):\(device)".utf8))
    }

    /// Answers `validate_device_token`, `query_two_bits` and `update_two_bits` (Apple, Accessing and Modifying Per-Device
    /// Data).
    func deviceCheck(_ request: OutboundRequest, _ path: String, in environment: SimulatedEnvironment)
        -> OutboundResponse
    {
        guard let team = team(of: request) else { return Self.words(401, "Unable to verify authorization token") }
        guard let json = try? JSON.parse(request.body), json["transaction_id"]?.string?.isEmpty == false,
            json["timestamp"]?.integer != nil
        else { return Self.words(400, "Missing or incorrectly formatted timestamp or transaction") }
        let prefix = "device-token:\(environment.receiptName):"
        guard let token = json["device_token"]?.string, let bytes = Base64.decode(token),
            let device = String(decoding: bytes, as: UTF8.self).dropping(prefix: prefix)
        else { return Self.words(400, "Missing or incorrectly formatted device token payload") }
        let name = "\(team.teamID) \(device)"
        switch path {
        case "/v1/query_two_bits":
            guard let bits = state.withLock({ $0.bits[name] }) else {
                return Self.words(200, "Failed to find bit state")
            }
            let reply: JSON = [
                "bit0": .bool(bits.bit0), "bit1": .bool(bits.bit1), "last_update_time": .string(bits.month),
            ]
            return OutboundResponse(
                status: 200, headers: [OutboundHeader("Content-Type", "application/json")], body: reply.encoded)
        case "/v1/update_two_bits":
            var changes: [Bool?] = []
            for field in ["bit0", "bit1"] {
                switch json[field] {
                case nil: changes.append(nil)
                case .bool(let value)?: changes.append(value)
                default: return Self.words(400, "Missing or incorrectly formatted bits")
                }
            }
            let month = String("\(clock.now)".prefix(7))
            state.withLock { state in
                var bits = state.bits[name] ?? DeviceBits(month: month)
                bits.bit0 = changes[0] ?? bits.bit0
                bits.bit1 = changes[1] ?? bits.bit1
                bits.month = month
                state.bits[name] = bits
            }
            return OutboundResponse(status: 200)
        default: return OutboundResponse(status: 200)
        }
    }
}
