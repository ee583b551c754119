internal import AssayCore
internal import Synchronization

extension SimulatedAppleServer {
    /// A device's bits, as far as they were ever set.
    struct DeviceBits: Sendable {
        var bit0 = false
        var bit1 = false
        /// `YYYY-MM`.
        var month: String
    }

    /// How many devices' bits, and how many used tokens, are kept; all are forgotten then.
    private static let memory = 100_000

    /// Makes a device token that is valid in an environment; all tokens of one device share its bits.
    ///
    /// - `number`: tells tokens of one device apart.
    public static func deviceToken(
        of device: String, in environment: SimulatedEnvironment = .production, number: Int = 0
    ) -> String {
        let suffix = number == 0 ? "" : "#\(number)"
        return Base64.encode(Array("device-token:\(environment.receiptName):\(device)\(suffix)".utf8))
    }

    /// Answers `validate_device_token`, `query_two_bits` and `update_two_bits` (Apple, Accessing and Modifying
    /// Per-Device Data).
    func deviceCheck(_ request: OutboundRequest, _ path: String, in environment: SimulatedEnvironment)
        -> OutboundResponse
    {
        guard let team = team(of: request) else { return Self.words(401, "Unable to verify authorization token") }
        guard let json = try? JSON.parse(request.body), json["transaction_id"]?.string?.isEmpty == false,
            json["timestamp"]?.integer != nil
        else { return Self.words(400, "Missing or incorrectly formatted timestamp or transaction") }
        let prefix = "device-token:\(environment.receiptName):"
        guard let token = json["device_token"]?.string, let bytes = Base64.decode(token),
            let device = String(decoding: bytes, as: UTF8.self).dropping(prefix: prefix), isNew(token)
        else { return Self.words(400, "Missing or incorrectly formatted device token payload") }
        let name = "\(team.teamID) \(device.prefix { $0 != "#" })"
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
                if state.bits.count >= Self.memory { state.bits = [:] }
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

    /// Whether a token was not used before, or may be used again.
    private func isNew(_ token: String) -> Bool {
        guard takesTokensOnce else { return true }
        return state.withLock { state in
            if state.usedTokens.count >= Self.memory { state.usedTokens = [] }
            return state.usedTokens.insert(token).inserted
        }
    }
}
