public import AssayKit

/// What a vendor's answer means.
public enum DeviceAnswer: Sendable, Equatable {
    /// The token is genuine; bits where they were asked for.
    case genuine(DeviceBits?)
    /// The token is not good. The detail goes on record, never to the client.
    case refused(detail: String?)
    /// Nothing was learned about the token.
    case undecided(UpstreamFailure)

    public static func == (left: DeviceAnswer, right: DeviceAnswer) -> Bool {
        switch (left, right) {
        case (.genuine(let left), .genuine(let right)): left == right
        case (.refused(let left), .refused(let right)): left.isExactly(right)
        case (.undecided(let left), .undecided(let right)): left == right
        default: false
        }
    }
}

/// The two bits that a developer team keeps for each device.
public struct DeviceBits: Sendable, Hashable {
    public var bit0: Bool
    public var bit1: Bool
    /// The month of the last change, `YYYY-MM`; nil when they were never set.
    @Exact public var lastUpdate: String?

    public init(bit0: Bool, bit1: Bool, lastUpdate: String? = nil) {
        self.bit0 = bit0
        self.bit1 = bit1
        self.lastUpdate = lastUpdate
    }

    /// Those of a device whose bits nobody ever set.
    public static let unset = DeviceBits(bit0: false, bit1: false)
}
