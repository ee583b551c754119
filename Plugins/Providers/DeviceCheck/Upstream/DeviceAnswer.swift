/// What a vendor's answer means.
public enum DeviceAnswer: Sendable, Hashable {
    /// The token is genuine; bits where they were asked for.
    case genuine(DeviceBits?)
    /// The token is not good. The detail goes on record, never to the client.
    case refused(detail: String?)
    /// Nothing was learned about the token.
    case undecided(UpstreamFailure)
}

/// The two bits that a developer team keeps for each device.
public struct DeviceBits: Sendable, Hashable {
    public var bit0: Bool
    public var bit1: Bool
    /// The month of the last change, `YYYY-MM`; nil when they were never set.
    public var lastUpdate: String?

    public init(bit0: Bool, bit1: Bool, lastUpdate: String? = nil) {
        self.bit0 = bit0
        self.bit1 = bit1
        self.lastUpdate = lastUpdate
    }

    /// Those of a device whose bits nobody ever set.
    public static let unset = DeviceBits(bit0: false, bit1: false)
}
