public import AssayKit

/// Why the DeviceCheck provider refuses.
public enum DeviceCheckReasons {
    public static let malformed = Reason("device_token_malformed", "The device token is not of the upstream's form.")
    public static let refused = Reason("device_token_refused", "The upstream says that the device token is not good.")
    public static let reused = Reason("device_token_reused", "The device token was exchanged before.")
    public static let bits = Reason("device_bits_refused", "The policy refuses devices whose bits are set like that.")

    /// All of them.
    public static let all = [malformed, refused, reused, bits]
}
