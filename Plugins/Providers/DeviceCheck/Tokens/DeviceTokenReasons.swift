public import AssayKit

/// Why a device token is refused, under the codes of one provider.
public struct DeviceTokenReasons: Sendable {
    public let malformed: Reason
    public let refused: Reason
    public let reused: Reason
    public let bits: Reason
    public let limited: Reason

    /// - Parameter prefix: what the codes begin with: `device_token` makes `device_token_refused`.
    public init(prefix: String) {
        malformed = Reason("\(prefix)_malformed", "The device token is not of the upstream's form.")
        refused = Reason("\(prefix)_refused", "The upstream says that the device token is not good.")
        reused = Reason("\(prefix)_reused", "The device token was exchanged before.")
        bits = Reason("\(prefix)_bits_refused", "The policy refuses devices whose bits are set like that.")
        limited = Reason(
            "\(prefix)_limited", "The upstream refused many device tokens of the peer; this one was not looked at.")
    }

    /// All of them.
    public var all: [Reason] { [malformed, refused, reused, bits, limited] }
}
