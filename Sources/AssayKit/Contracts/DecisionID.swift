/// The identifier of one decision: given to the client, written into every log line and audit record about it.
///
/// 26 characters of Crockford's Base 32: 48 bits of time in milliseconds, then 80 random bits, so that identifiers sort
/// by time (the layout of a ULID).
public struct DecisionID: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// A fresh identifier.
    public init(now: Instant, randomness: Randomness) {
        let time = UInt64(clamping: now.milliseconds) & 0xFFFF_FFFF_FFFF
        var bits: [UInt8] = (0..<6).map { UInt8(truncatingIfNeeded: time >> UInt64(40 - 8 * $0)) }
        bits += randomness.bytes(10)
        text = DecisionID.base32(bits)
    }

    /// An identifier that was written down before; its text is taken as it is.
    public init(text: String) {
        self.text = text
    }

    public var description: String { text }

    /// 128 bits as 26 digits, the first of which holds three bits.
    private static func base32(_ bytes: [UInt8]) -> String {
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
        var digits: [UInt8] = []
        var pending: UInt32 = 0
        var pendingBits = 2
        for byte in bytes {
            pending = (pending << 8 | UInt32(byte)) & 0x1FFF
            pendingBits += 8
            while pendingBits >= 5 {
                pendingBits -= 5
                digits.append(alphabet[Int(pending >> UInt32(pendingBits) & 31)])
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
