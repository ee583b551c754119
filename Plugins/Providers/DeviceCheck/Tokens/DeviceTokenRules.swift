public import AssayKit

/// What a policy demands of a device token beyond that the vendor says it is genuine.
public struct DeviceTokenRules: Sendable {
    /// For how long an exchanged token may be remembered.
    public static let memories: ClosedRange<Duration> = .seconds(60)...Duration.seconds(30 * 86_400)

    /// Which devices are refused for their bits; none when nil.
    public let refuseWhen: DeviceBitsRule?
    /// How long exchanged tokens are remembered, so that each is exchanged once; nil where they may be used again.
    public let memory: Duration?

    /// - Parameters are those of a policy's keys `refuse_when`, `allow_reuse` and `remember_for`.
    /// - Throws: ``ConfigurationError`` at the key that makes no sense.
    public init(
        refuseWhen: DeviceBitsRule? = nil, allowReuse: Bool? = nil, rememberFor: Duration? = nil
    ) throws(ConfigurationError) {
        if let refuseWhen, refuseWhen.bit0 == nil, refuseWhen.bit1 == nil {
            throw ConfigurationError(at: ["refuse_when"], "expected `bit0` or `bit1`: every device is refused else")
        }
        let memory = rememberFor ?? .seconds(86_400)
        guard Self.memories.contains(memory) else {
            throw ConfigurationError(at: ["remember_for"], "expected 1m to 30d")
        }
        self.refuseWhen = refuseWhen
        self.memory = allowReuse == true ? nil : memory
    }
}

/// Devices that are refused: those whose bits are all as it says. What it does not name may be either.
public struct DeviceBitsRule: Decodable, Sendable {
    public let bit0: Bool?
    public let bit1: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case bit0, bit1
    }

    func matches(_ bits: DeviceBits) -> Bool {
        (bit0 ?? bits.bit0) == bits.bit0 && (bit1 ?? bits.bit1) == bits.bit1
    }
}

extension DeviceBitsRule: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "bit0": "What bit 0 of a refused device is; either when absent.",
        "bit1": "What bit 1 of a refused device is; either when absent.",
    ]
}
