public import AssayCore
internal import AssayKit

/// The section `private_token` of a project: its keys, and how many tokens a device gets.
public struct PrivateTokenConfiguration: Decodable, Sendable, DescribedConfiguration {
    /// The issuer's name: a host, which is also the audience by which requests choose this section.
    public let issuer: HostName
    /// The keys, 1 to 8; the first is the one that clients should use.
    public let keys: [Key]
    /// What the directory says of where tokens are issued; the path of this server when absent.
    public let requestURI: String?
    /// The most tokens of a request; 8 when absent.
    public let batch: Int?
    /// The most requests of a device on one day; 4 when absent.
    public let dailyBatches: Int?
    /// Whether App Check tokens that name no key of a device are accepted; they are not when absent.
    public let acceptsUnboundTokens: Bool?

    /// A key that signs blindly, and does nothing else.
    public struct Key: Decodable, Sendable, DescribedConfiguration {
        /// Where the key is, in PEM: RSA of 2048 bits.
        public let privateKey: SecretReference
        /// From when on the directory says that clients should use the key; nothing when absent.
        public let notBefore: Instant?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case privateKey = "private_key"
            case notBefore = "not_before"
        }

        /// The keys of this part of a policy, with their descriptions.
        public static let keys: [ExactText: PolicyKey] = [
            "private_key": """
            The location of the key in PEM, RSA of 2048 bits: `file:PATH` or `env:NAME`. Use it for nothing else: it signs what clients \
            choose.
            """,
            "not_before":
                "When clients should begin to use the key (RFC 3339), which the directory tells them; at once when absent.",
        ]
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case issuer, keys
        case requestURI = "request_uri"
        case batch
        case dailyBatches = "daily_batches"
        case acceptsUnboundTokens = "accept_unbound_tokens"
    }

    /// The keys of the section, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "issuer": PolicyKey(
            "The issuer's name: the host that clients and origins know it by.", examples: ["issuer.example.com"]),
        "keys": PolicyKey("The issuer's keys, 8 at most, in the order in which clients should use them.", .notEmpty),
        "request_uri": PolicyKey(
            "What the directory says of where tokens are issued: a path, or a URL where a proxy changes paths.",
            .length(1...2048), standard: "/private-tokens"),
        "batch": PolicyKey(
            "The most tokens of one request.", .range(batches), standard: .integer(Int64(standardBatch))),
        "daily_batches": PolicyKey(
            "The most requests for tokens of one device on a day of UTC.", .range(batchesPerDay),
            standard: .integer(Int64(standardDailyBatches))),
        "accept_unbound_tokens": PolicyKey(
            """
            Whether App Check tokens are accepted that name no key of a device: then each of them gets `daily_batches` requests, instead \
            of each device.
            """, standard: false),
    ]

    static let batches = 1...32
    static let standardBatch = 8
    static let batchesPerDay = 1...8
    static let standardDailyBatches = 4
    static let keyLimit = 8

    func check(_ problems: inout ConfigurationProblems) {
        if !(1...Self.keyLimit).contains(keys.count) {
            problems.report(at: ["keys"], "expected 1 to \(Self.keyLimit) keys")
        }
        if let uri = requestURI,
            !(1...2048).contains(uri.utf8.count) || !uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            problems.report(at: ["request_uri"], "expected a path or a URL of 1 to 2048 characters")
        }
        if let batch, !Self.batches.contains(batch) {
            problems.report(at: ["batch"], "expected 1 to \(Self.batches.upperBound)")
        }
        if let dailyBatches, !Self.batchesPerDay.contains(dailyBatches) {
            problems.report(at: ["daily_batches"], "expected 1 to \(Self.batchesPerDay.upperBound)")
        }
    }
}
