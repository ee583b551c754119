/// The SHA-256 of a secret, which a policy can contain instead of the secret: 64 hexadecimal digits.
public struct SecretDigest: Sendable, Hashable, Decodable, WrittenAsText {
    /// The form in policies: 64 hexadecimal digits.
    public static let textForm = TextForm(
        "The SHA-256 of the secret, in hexadecimal; never the secret itself.", pattern: "^[0-9A-Fa-f]{64}$",
        examples: ["e50aa1f3d888c1e78903df86492fc332930cd66d73cbe3d3e63b9834e8ff705a"], mayBeSecret: true)

    /// 32 bytes.
    public let bytes: [UInt8]

    /// The digest that a text spells; nil for any other text.
    public init?(_ text: String) {
        guard text.utf8.count == 64, let bytes = Hex.decode(text), bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Decodes 64 hexadecimal digits; the error never repeats the text, which may be the secret.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = SecretDigest(try container.decode(String.self)) else {
            // The text is not repeated: it may be the secret itself.
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected 64 hexadecimal digits: the SHA-256 of the secret, not the secret itself")
        }
        guard !digest.isOfCommonSecret else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription:
                    "this is the hash of an empty text or of a word that attackers try first: make a secret "
                    + "at random, and its hash without a trailing line end")
        }
        self = digest
    }
}
