internal import AssayKit

/// What a vendor's answer means.
enum DeviceAnswer: Sendable {
    /// The token is genuine; bits where they were asked for.
    case genuine(DeviceBits?)
    /// The token is not good.
    case refused(Reason, detail: String?)
    /// Nothing was learned about the token.
    case undecided(UpstreamFailure)
}

/// The two bits that a developer team keeps for each device.
struct DeviceBits: Sendable, Hashable {
    var bit0: Bool
    var bit1: Bool
    /// The month of the last change, `YYYY-MM`; nil when they were never set.
    var lastUpdate: String?

    static let unset = DeviceBits(bit0: false, bit1: false, lastUpdate: nil)
}
