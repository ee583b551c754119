public import AssayCore
internal import AssayKit

/// The part `device_recall` of the section `play_integrity`.
public struct PlayRecallConfiguration: Decodable, Sendable {
    /// Which devices are refused for their bits; none when absent.
    public let refuseWhen: PlayRecallRule?

    enum CodingKeys: String, CodingKey {
        case refuseWhen = "refuse_when"
    }
}

extension PlayRecallConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "refuse_when": """
        The devices that are refused for their three bits; none when absent. One whose bits were never set, or are not told, is not \
        refused.
        """
    ]
}

/// Devices that are refused: those whose bits are all as it says.
///
/// A bit that it does not name may have either value.
public struct PlayRecallRule: Decodable, Sendable {
    /// The value of bit 0, Google's `bitFirst`; nil for any.
    public let bit0: Bool?
    /// The value of bit 1, Google's `bitSecond`; nil for any.
    public let bit1: Bool?
    /// The value of bit 2, Google's `bitThird`; nil for any.
    public let bit2: Bool?
}

extension PlayRecallRule: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "bit0": "The value of bit 0 (`bitFirst`) in a refused device; any value when absent.",
        "bit1": "The value of bit 1 (`bitSecond`) in a refused device; any value when absent.",
        "bit2": "The value of bit 2 (`bitThird`) in a refused device; any value when absent.",
    ]
}
