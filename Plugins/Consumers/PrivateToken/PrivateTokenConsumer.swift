public import AssayCore
internal import AssayCrypto
public import AssayKit

/// An issuer of Privacy Pass (RFC 9578, section 6): signs tokens blindly for apps with an App Check token, so that any origin can
/// verify them and nobody can tell which app instance one was made for.
public struct PrivateTokenConsumer: TokenConsumer {
    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.consumer(
        name: "private_token", version: AssayVersion.text,
        summary: "Privacy Pass tokens (blind RSA) for apps with an App Check token.", stability: .experimental,
        posture: SecurityPosture(
            proves: """
                To an origin: the token's signature was made for a client with a valid App Check token, as the policy demands, that had \
                not reached its daily limit. It does not prove which client that was, or that the client still is genuine.
                """,
            trusts: [
                "the provider that issued the App Check token", "those who hold the private keys that the policy names",
                "the state store, which counts the batches of a device",
            ]),
        reasons: PrivateTokenReasons.all, facts: [.privateTokensIssued, .privateTokenKey],
        metrics: [PrivateTokenMetrics.issued],
        // One RSA private operation a token, some 0.3 ms to 1 ms, of which a request has 32 at most; none before the App Check token is
        // verified and the limit of the device is kept.
        limits: PluginLimits(
            evidence: 16 * 1024, cpuTime: .seconds(1), concurrentCalls: 64, outboundCalls: 0,
            storeWrites: PrivateTokenConfiguration.batchesPerDay.upperBound, reply: 32 * 1024))

    /// The methods that the plugin offers, with their HTTP rules.
    public static let methods: [ConsumerMethod<PrivateTokenConsumer>] = [
        .redeem(
            "issuePrivateTokens", [HTTPRule(.post, PrivateTokenConsumer.requestPath, version: .v1)],
            selection: .tokenProject,
            reply: [.required("tokenResponses", .list(.bytes, atMost: PrivateTokenConfiguration.batches.upperBound))],
            // RFC 9578, section 6.2: a request that is not as it must be.
            binding: HTTPBinding(statuses: [.invalidArgument: 422])
        ) { (consumer, request: IssuePrivateTokensRequest) in
            let orders = try consumer.read(request)
            return PreparedRequest { context in try await consumer.issue(orders, context) }
        },
        .call(
            "getPrivateTokenIssuerDirectory",
            [HTTPRule(.get, "/.well-known/private-token-issuer-directory", version: .v1, query: ["issuer"])],
            permission: nil, selection: .audience("issuer"),
            reply: [
                .required("issuer-request-uri", .text),
                .required(
                    "token-keys",
                    .list(
                        .message([
                            .required("token-type", .integer(2...2)), .required("token-key", .text),
                            .optional("not-before", .integer(0...253_402_300_799)),
                        ]), atMost: PrivateTokenConfiguration.keyLimit)),
            ]
        ) { (consumer, request: IssuerDirectoryRequest, context) in
            .granted(ConsumerReply(consumer.directory))
        },
    ]

    static let requestPath = "/private-tokens"
    /// A `TokenRequest`: the type 0x0002, the last byte of the key's identifier and the blinded message (RFC 9578, section 6.1).
    private static let requestCount = 3 + IssuerKey.byteCount

    /// The issuer's name.
    public let audiences: [String]
    private let keys: [IssuerKey]
    private let batch: Int
    private let quota: DeviceQuota
    private let directory: JSON
    private let meter: Meter

    /// Makes the consumer for its scope from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(
        _ configuration: PrivateTokenConfiguration, scope: ConsumerScope, host: PluginHost
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        configuration.check(&problems)
        var keys: [IssuerKey] = []
        for (index, section) in configuration.keys.enumerated() {
            let path: [ConfigurationError.Component] = ["keys", .index(index)]
            let key = problems.attempt { () throws(ConfigurationError) in
                try IssuerKey(section, at: path, secrets: host.secrets)
            }
            guard let key else { continue }
            if keys.contains(where: { $0.truncatedID == key.truncatedID }) {
                problems.report(
                    at: path,
                    "another key's identifier has the same last byte, by which requests name a key: make another key")
            }
            keys.append(key)
        }
        try problems.throwIfAny()
        audiences = [configuration.issuer.text]
        batch = configuration.batch ?? PrivateTokenConfiguration.standardBatch
        quota = DeviceQuota(
            batches: configuration.dailyBatches ?? PrivateTokenConfiguration.standardDailyBatches,
            acceptsUnboundTokens: configuration.acceptsUnboundTokens ?? false)
        directory = [
            "issuer-request-uri": .string(configuration.requestURI ?? Self.requestPath),
            "token-keys": .array(keys.map(\.entry)),
        ]
        (self.keys, meter) = (keys, host.meter)
    }

    /// A blinded message, and the key that it was made for.
    struct Order: Sendable {
        let key: IssuerKey
        let message: ArraySlice<UInt8>
    }

    /// Reads all that is known of a request without an RSA operation.
    private func read(_ request: IssuePrivateTokensRequest) throws(InvalidRequest) -> [Order] {
        guard (1...batch).contains(request.tokenRequests.count) else {
            throw InvalidRequest("the field 'tokenRequests' must have 1 to \(batch) elements")
        }
        return try request.tokenRequests.map { (bytes) throws(InvalidRequest) in
            guard bytes.count == Self.requestCount, bytes.starts(with: [0x00, 0x02]) else {
                throw InvalidRequest("an element of 'tokenRequests' is no request for a token of type 0x0002")
            }
            guard let key = keys.first(where: { $0.truncatedID == bytes[2] }) else {
                throw InvalidRequest("an element of 'tokenRequests' is for a key that the issuer does not have")
            }
            guard key.key.isValidMessage(bytes[3...]) else {
                throw InvalidRequest("an element of 'tokenRequests' has no blinded message for its key")
            }
            return Order(key: key, message: bytes[3...])
        }
    }

    private func issue(_ orders: [Order], _ context: ConsumerContext) async throws -> ConsumerVerdict {
        if let refusal = try await quota.take(context) { return refusal }
        var responses: [JSON] = []
        for order in orders {
            // The caller may have gone.
            try Task.checkCancellation()
            responses.append(.string(Base64.encode(try order.key.key.sign(blinded: order.message))))
        }
        meter.add(Double(orders.count), to: PrivateTokenMetrics.issued)
        var facts = [Fact(.privateTokensIssued, .integer(Int64(orders.count)))]
        if let first = orders.first { facts.append(Fact(.privateTokenKey, .text(first.key.identifier))) }
        return .granted(ConsumerReply(["tokenResponses": .array(responses)], facts: facts))
    }
}

extension FactName {
    /// How many blind signatures a request got.
    public static let privateTokensIssued = FactName("private_tokens_issued", .integer)
    /// The identifier of the key that signed the first of them, in hexadecimal digits.
    public static let privateTokenKey = FactName("private_token_key", .digest)
}

/// The metrics of the issuer.
enum PrivateTokenMetrics {
    static let issued = Metric.counter("tokens_total", "Blind signatures that were made.")
}

/// What an app sends for blind signatures.
struct IssuePrivateTokensRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required("tokenRequests", .list(.bytes, atMost: PrivateTokenConfiguration.batches.upperBound))
    ]

    let tokenRequests: [[UInt8]]

    init(_ fields: RequestFields) throws(InvalidRequest) {
        tokenRequests = try fields.bytesList("tokenRequests", atMost: PrivateTokenConfiguration.batches.upperBound)
    }
}

/// A request for an issuer's directory.
struct IssuerDirectoryRequest: RequestMessage {
    static let shape: MessageShape? = [.optional("issuer", .text)]

    init(_ fields: RequestFields) throws(InvalidRequest) {
        _ = try fields.optionalString("issuer")
    }
}
