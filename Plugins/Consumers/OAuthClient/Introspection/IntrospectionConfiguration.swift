public import AssayKit

/// The part `introspection`: which tokens are active.
public struct IntrospectionConfiguration: Decodable, Sendable {
    /// Whether tokens are that stand in for evidence while an app is developed; as the section's `tokens` say when absent.
    public let acceptsDevelopment: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case acceptsDevelopment = "accept_development"
    }
}

extension IntrospectionConfiguration: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "accept_development": PolicyKey(
            """
            Whether tokens are active that stand in for evidence while an app is developed, as debug tokens. When absent, what \
            `tokens` of the section says.
            """, development: .words(["true"]))
    ]
}
