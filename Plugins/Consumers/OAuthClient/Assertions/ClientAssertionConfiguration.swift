public import AssayCore

/// The part `client_assertion`: the demand on App Check tokens that are client assertions in requests to an
/// authorization server, and exceptions for some clients.
public struct ClientAssertionConfiguration: Decodable, Sendable {
    /// What happens to requests whose assertion is invalid; they are refused when absent.
    public let enforcement: EnforcementMode?
    /// The enforcement for single clients, by their identifiers.
    public let clients: [ExactText: EnforcementMode]?
    /// Whether session tokens are refused; they are when absent.
    ///
    /// Either can be used once.
    public let limitedUse: Bool?
    /// How long ago a token may have been issued; as long as it lives when absent.
    public let maximumAge: Duration?
    /// The providers whose tokens are accepted; all when absent.
    public let providers: [String]?
    /// Whether tokens of providers for development are accepted; as in the section's `tokens` when absent.
    public let acceptsDevelopment: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case enforcement, clients
        case limitedUse = "limited_use"
        case maximumAge = "max_age"
        case providers
        case acceptsDevelopment = "accept_development"
    }
}

extension ClientAssertionConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "enforcement": PolicyKey(
            """
            What happens to requests whose assertion is invalid: OFF checks none, UNENFORCED reports and counts them, \
            ENFORCED refuses them.
            """, standard: "ENFORCED"),
        "clients": PolicyKey(
            "The enforcement for single OAuth clients, by their client IDs.", examples: [["example-ios": "UNENFORCED"]]),
        "limited_use": PolicyKey(
            "Whether only limited-use tokens are accepted, as Google Sign-In sends them; each token can be used once in any case.",
            standard: true),
        "max_age": PolicyKey("The largest age of a token.", examples: ["10m"]),
        "providers": PolicyKey(
            "The providers whose tokens are accepted; all of them when absent.", .notEmpty, examples: [["app_attest"]],
            names: .providers),
        "accept_development": PolicyKey(
            """
            Whether tokens of providers for development are valid, such as debug tokens. When absent, as in the \
            section's `tokens`.
            """, development: .words(["true"])),
    ]
}

/// What an authorization server forwards of a request to it, by the names of its parameters.
struct ClientAssertionRequest: RequestMessage {
    static let shape: MessageShape? = [
        .required("clientId", .text), .optional("clientAssertionType", .list(.text, atMost: valueLimit)),
        .optional("clientAssertion", .list(.text, atMost: valueLimit)), .optional("audience", .text),
    ]

    /// The most values of a parameter that are read; more than one is refused anyway.
    private static let valueLimit = 8

    let clientID: String
    let types: [String]
    let assertions: [String]

    init(_ fields: RequestFields) throws(InvalidRequest) {
        clientID = try fields.string("clientId")
        types = try fields.strings("clientAssertionType").filter { !$0.isEmpty }
        assertions = try fields.strings("clientAssertion").filter { !$0.isEmpty }
        guard clientID.utf8.count <= ClientAttestation.clientLimit else {
            throw InvalidRequest("the field 'client_id' is too large")
        }
        guard max(types.count, assertions.count) <= ClientAssertionRequest.valueLimit else {
            throw InvalidRequest("a parameter is repeated too often")
        }
    }
}
