public import AssayKit

/// The name of a server in a policy, such as an issuer identifier: any text of 1 to 2048 characters.
public struct AudienceName: Decodable, Sendable, Hashable, WrittenAsText {
    public static let textForm = TextForm(
        "The identifier of a server, as clients name it.", pattern: "^[\\s\\S]{1,2048}$",
        examples: ["https://login.example.com"])

    @Exact public private(set) var text: String

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        guard (1...2048).contains(text.unicodeScalars.count) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected 1 to 2048 characters")
        }
    }
}
