internal import AssayKit

/// What a vendor is asked about a device.
struct DeviceQuestion: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// Whether the token is genuine.
        case validate
        /// That, and which bits are set.
        case query
        /// Sets the bits that are not nil.
        case update(bit0: Bool?, bit1: Bool?)
    }

    let kind: Kind
    /// In its canonical form.
    let deviceToken: String
    /// The same for all tries of one question.
    let transaction: String

    init(_ kind: Kind, _ deviceToken: String, randomness: Randomness) {
        self.kind = kind
        self.deviceToken = deviceToken
        transaction = Hex.encode(randomness.bytes(16))
    }
}
