/// The name of a host in a policy, with or without a port, in ASCII.
public struct HostName: WrittenAsText, Sendable, Hashable {
    /// The form in policies.
    public static let textForm = TextForm(
        "A host, with or without a port: 1 to 255 letters, digits and `-.:[]`.",
        pattern: "^[A-Za-z0-9.:\\[\\]-]{1,255}$",
        examples: ["app.example.com"])

    /// The name.
    @Exact public private(set) var text: String

    /// Decodes a name from its text; the decoding fails for any other form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        let isHost =
            (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-.:[]".utf8.contains($0) }
        guard isHost else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected a host of 1 to 255 characters, such as app.example.com")
        }
    }
}
