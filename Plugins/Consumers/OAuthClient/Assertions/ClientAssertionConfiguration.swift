public import AssayKit

/// The part `client_assertion`: what is demanded of App Check tokens that stand as client assertions in requests to an
/// authorization server, and of which clients more or less than of others.
public struct ClientAssertionConfiguration: Decodable, Sendable {
    /// What becomes of requests whose assertion is not good; they are refused when absent.
    public let enforcement: EnforcementMode?
    /// The enforcement for single clients, by their identifiers.
    public let clients: [ExactText: EnforcementMode]?
    /// Whether session tokens are refused; they are when absent. Either are good for one use.
    public let limitedUse: Bool?
    /// How long ago a token may have been issued; as long as it lives when absent.
    public let maximumAge: Duration?
    /// The providers whose tokens are taken; all when absent.
    public let providers: [String]?
    /// Whether tokens are taken that stand in for evidence while an app is developed; as the section's
    /// `tokens` say when absent.
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
    public static let keys: [ExactText: PolicyKey] = [
        "enforcement": PolicyKey(
            """
            What becomes of requests whose assertion is not good: OFF looks at none, UNENFORCED says so and counts, \
            ENFORCED refuses.
            """, standard: "ENFORCED"),
        "clients": PolicyKey(
            "The enforcement for single OAuth clients, by their client IDs.", examples: [["example-ios": "UNENFORCED"]]),
        "limited_use": PolicyKey(
            "Whether only limited-use tokens are taken, as Google Sign-In sends them; all are good for one use.",
            standard: true),
        "max_age": PolicyKey("How long ago a token may have been issued.", examples: ["10m"]),
        "providers": PolicyKey(
            "The providers whose tokens are taken; all of them when absent.", .notEmpty, examples: [["app_attest"]],
            names: .providers),
        "accept_development": PolicyKey(
            """
            Whether tokens are good that stand in for evidence while an app is developed, as debug tokens. When absent, what \
            `tokens` of the section says.
            """, development: .words(["true"])),
    ]
}
