#if Simulator
internal import AssayCore
internal import AssayCrypto
internal import AssayDebug
internal import AssayEngine
internal import AssayPolicyTools
internal import AssayTesting

/// Devices whose tokens a simulated Apple knows, for tests of policies.
struct DeviceCheckSimulator: EvidenceSimulator {
    let provider = "device_check"
    let methods = [exchange]

    private static let exchange = "exchangeDeviceCheckToken"

    let properties = [
        EvidenceProperty(FactName("bit0", .bool), "The first bit that Apple keeps of the device."),
        EvidenceProperty(FactName("bit1", .bool), "The second bit that Apple keeps of the device."),
    ]

    let changes = [
        EvidenceChange(
            "token", ["replay", "unknown"],
            "The device token: one that was used before, or one that Apple does not know.")
    ]

    func begin(_ order: EvidenceOrder) throws -> EvidenceSession {
        let team = try SimulatedAppleTeam(teamID: "SIMULATED1")
        let tokens = KnownDeviceTokens()
        let isSet = order.bool("bit0") != nil || order.bool("bit1") != nil
        let (bit0, bit1) = (order.bool("bit0") ?? false, order.bool("bit1") ?? false)
        return EvidenceSession(
            secrets: SecretSource { _ in Array(team.privateKeyPEM.utf8) }, start: order.now,
            upstream: { request in
                let answer = tokens.answer(request)
                guard isSet, answer.status == 200, !answer.body.isEmpty else { return answer }
                let bits: JSON = ["bit0": .bool(bit0), "bit1": .bool(bit1), "last_update_time": "2026-01"]
                return OutboundResponse(status: 200, body: bits.encoded)
            }
        ) { calls in
            let known = tokens.make()
            let isUnknown = order.changes("token", "unknown")
            let body: JSON = [
                "deviceToken": .string(isUnknown ? Base64.encode(Array("unknown to Apple".utf8)) : known)
            ]
            if order.changes("token", "replay") { _ = try await calls.call(Self.exchange, body) }
            return body
        }
    }
}

/// Developers who know the debug tokens of the policies, for tests of policies.
///
/// A made-up token takes the place of each one.
struct DebugSimulator: EvidenceSimulator {
    let provider = "debug"
    let methods = ["exchangeDebugToken"]

    let properties = [
        EvidenceProperty(
            FactName("name", .text), "The name of the debug token in the policies; the first one when absent.")
    ]

    let changes = [EvidenceChange("token", ["unknown"], "The debug token: one that the policies do not have.")]

    func begin(_ order: EvidenceOrder) -> EvidenceSession {
        var names: [String] = []
        let tokens = (order.section["tokens"]?.array ?? []).map { token -> JSON in
            let name = token["name"]?.string ?? ""
            names.append(name)
            let others = (token.members ?? []).filter { !["sha256", "token", "optional"].contains(exactly: $0.name) }
            return .object(
                others + [JSONMember("sha256", .string(Hex.encode(DebugToken.hash(of: Self.token(name)))))])
        }
        let name = order.text("name") ?? names.first
        let isUnknown = order.changes("token", "unknown")
        return EvidenceSession(
            overlay: order.section["tokens"] == nil ? [:] : ["tokens": .array(tokens)], start: order.now
        ) { _ in
            ["debugToken": .string(isUnknown ? "simulated-debug-token-nobody-knows" : Self.token(name ?? ""))]
        }
    }

    private static func token(_ name: String) -> String { "simulated-debug-token:\(name)" }
}
#endif
