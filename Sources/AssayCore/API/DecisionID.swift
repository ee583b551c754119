/// The identifier of one decision: given to the client, written into every log line and audit record about it.
///
/// 26 characters of Crockford's Base 32: 48 bits of time in milliseconds, then 80 random bits, so that identifiers sort
/// by time (the layout of a ULID).
public struct DecisionID: Sendable, Hashable, CustomStringConvertible {
    /// The 26 characters of the identifier.
    @Exact public private(set) var text: String

    /// A fresh identifier.
    public init(now: Instant, randomness: Randomness) {
        self.init(now: now, random: randomness.bytes(DecisionID.randomBytes)[...])
    }

    /// How many random bytes an identifier has.
    package static let randomBytes = 10

    /// An identifier with these random bytes.
    package init(now: Instant, random: ArraySlice<UInt8>) {
        let time = UInt128(UInt64(clamping: now.milliseconds) & 0xFFFF_FFFF_FFFF)
        text = DecisionID.base32(random.prefix(DecisionID.randomBytes).reduce(time) { $0 << 8 | UInt128($1) })
    }

    /// Makes an identifier from the text of an earlier one, which is not checked.
    public init(text: String) {
        self.text = text
    }

    /// Same as ``text``.
    public var description: String { text }

    /// 128 bits as 26 digits, the first of which holds three bits.
    private static func base32(_ bits: UInt128) -> String {
        let alphabet: StaticString = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
        return String(unsafeUninitializedCapacity: 26) { digits in
            alphabet.withUTF8Buffer { alphabet in
                for index in 0..<26 {
                    digits[index] = alphabet[Int(truncatingIfNeeded: bits >> UInt128(125 - 5 * index)) & 31]
                }
            }
            return 26
        }
    }
}
