public import AssayKit

/// A client ID in a policy: printable ASCII (RFC 6749, appendix A.1).
public struct ClientIdentifier: Decodable, Sendable, Hashable, WrittenAsText {
    public static let textForm = TextForm(
        "A client ID.", pattern: "^[\\x20-\\x7E]{1,1024}$", examples: ["example-ios"])

    @Exact public private(set) var text: String

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        guard (1...ClientAttestation.clientLimit).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected a client ID: 1 to 1024 characters of printable ASCII")
        }
    }
}
