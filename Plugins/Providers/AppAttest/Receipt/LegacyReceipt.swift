internal import AssayCrypto
internal import AssayKit

/// Receipts of App Attest's first weeks: they have signed attributes, and Apple signed the content instead of them.
///
/// A signature over the content is then all there is. It is taken only for a receipt that says itself, in that content,
/// to be that old; and each attribute, which nothing vouches for, must have the one value that it can have. (The time
/// of signing can have two, when the receipt was made at the very end of a second; it is used for nothing.)
enum LegacyReceipt {
    /// Receipts made from this day on are never of this kind; the last one seen is of 2020-10-03, the first good one
    /// of 2020-10-22.
    static let end = Instant(seconds: 1_602_720_000)  // 2020-10-15T00:00:00Z

    /// How much later than the receipt the signature may have been made; 58 ms were seen.
    private static let delay: Duration = .milliseconds(100)

    /// Whether a message is a receipt of this kind, signed by this key.
    static func isSigned(_ message: SignedData, created: Instant, by key: ECPublicKey) -> Bool {
        guard created < end, let attributes = message.signer.attributes, let signingTime = attributes.signingTime,
            (created.seconds...(created + delay).seconds).contains(signingTime.seconds),
            attributes.messageDigest.elementsEqual(SHA256.hash(message.content))
        else { return false }
        return message.isContentSigned(by: key)
    }
}
