public import AssayCore
internal import AssayKit

/// What a policy demands of a device token beyond that the vendor says it is genuine.
public struct DeviceTokenRules: Sendable {
    /// For how long an exchanged token may be remembered.
    public static let memories: ClosedRange<Duration> = .seconds(60)...Duration.seconds(30 * 86_400)

    /// Which devices are refused for their bits; none when nil.
    public let refuseWhen: DeviceBitsRule?
    /// How long exchanged tokens are remembered, so that each is exchanged once; nil if they may be used again.
    public let memory: Duration?

    /// Makes rules from the values of a policy's keys `refuse_when`, `allow_reuse` and `remember_for`.
    ///
    /// - Throws: `ConfigurationError` at the key whose value is invalid.
    public init(
        refuseWhen: DeviceBitsRule? = nil, allowReuse: Bool? = nil, rememberFor: Duration? = nil
    ) throws(ConfigurationError) {
        if refuseWhen?.bits.isEmpty ?? false {
            throw ConfigurationError(
                at: ["refuse_when"], "expected `bit0` or `bit1`: otherwise every device is refused")
        }
        let memory = rememberFor ?? .seconds(86_400)
        guard Self.memories.contains(memory) else {
            throw ConfigurationError(at: ["remember_for"], "expected 1m to 30d")
        }
        self.refuseWhen = refuseWhen
        self.memory = allowReuse == true ? nil : memory
    }
}

/// Devices that are refused: those whose bits are all as it says.
///
/// A bit that it does not name may have either value.
public struct DeviceBitsRule: Decodable, Sendable {
    /// The value of bit 0; nil for any.
    public let bit0: Bool?
    /// The value of bit 1; nil for any.
    public let bit1: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case bit0, bit1
    }

    var bits: SomeDeviceBits { SomeDeviceBits([bit0, bit1]) }
}

extension DeviceBitsRule: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "bit0": "The value of bit 0 in a refused device; any value when absent.",
        "bit1": "The value of bit 1 in a refused device; any value when absent.",
    ]
}

/// Why a device token is refused, under the codes of one provider.
public struct DeviceTokenReasons: Sendable {
    /// The device token does not have the vendor's form.
    public let malformed: Reason
    /// The vendor says that the device token is invalid.
    public let refused: Reason
    /// The device token was exchanged before.
    public let reused: Reason
    /// The policy refuses devices with these bits.
    public let bits: Reason
    /// The vendor refused many device tokens of the peer, so this one was not checked.
    public let limited: Reason

    /// - Parameter prefix: what the codes begin with: `device_token` makes `device_token_refused`.
    public init(prefix: String) {
        malformed = Reason(
            "\(prefix)_malformed", "The device token does not have the vendor's form.",
            advice: """
                Check that the client sends what its system gave as the device token, as one text in standard \
                Base64.
                """)
        refused = Reason(
            "\(prefix)_refused", "The vendor says that the device token is invalid.",
            advice: """
                Check that the environment in the policy is the one of the build, and that the account's key belongs \
                to the app's team. A single case is an expired or made-up device token.
                """)
        reused = Reason(
            "\(prefix)_reused", "The device token was exchanged before.",
            advice: """
                Let the client generate a new device token for each exchange, also when it retries. Set \
                `allow_reuse: true` only if it cannot.
                """)
        bits = Reason(
            "\(prefix)_bits_refused", "The policy refuses devices with these bits.",
            advice: """
                The device has the bits that `refuse_when` names. If the block was a mistake, set the bits of the \
                device with the update method.
                """)
        limited = Reason(
            "\(prefix)_limited", "The vendor refused many device tokens of the peer, so this one was not checked.",
            advice: """
                Wait: the address is admitted again automatically. If many genuine users share it, find out why their \
                device tokens are refused, and which address the server sees (`--trusted-proxy`).
                """)
    }

    /// All of them.
    public var all: [Reason] { [malformed, refused, reused, bits, limited] }

    /// The answer to a caller that wants to read or set the bits of a device with a token that is not accepted.
    func refusedAnswer(_ detail: String?) -> CallFailure {
        CallFailure(.invalidArgument, "The device token was not accepted.", reason: refused, detail: detail)
    }

    /// The answers that the provider gives itself, for its descriptor.
    public var answers: [CallFailure] { [refusedAnswer(nil), UpstreamInquiry.limitedAnswer(limited)] }
}
