public import AssayKit

/// What a vendor is asked about a device.
public struct DeviceQuestion: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// Whether the token is genuine.
        case validate
        /// That, and which bits are set.
        case query
        /// Sets the bits that are not nil.
        case update(bit0: Bool?, bit1: Bool?)
    }

    public let kind: Kind
    /// In its canonical form.
    @Exact public private(set) var deviceToken: String
    /// 32 hexadecimal digits, the same for all tries of one question.
    @Exact public private(set) var transaction: String

    init(_ kind: Kind, _ deviceToken: String, randomness: Randomness) {
        self.kind = kind
        self.deviceToken = deviceToken
        transaction = Hex.encode(randomness.bytes(16))
    }
}
