internal import AssayCore
internal import AssayYAML

/// The keys that the kernel reads in every provider's section.
struct ProviderSection: DescribedConfiguration {
    let tokenLifetime: Checked<Duration>?
    /// Settings of the provider that are in shadow.
    let shadow: Undecoded<Never>?
    let refusalStatus: Checked<[ExactText: Int]>?
    let unknownFields: Checked<UnknownFields>?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case tokenLifetime = "token_ttl"
        case shadow
        case refusalStatus = "refusal_status"
        case unknownFields = "unknown_fields"
    }

    /// The keys that decide about no evidence.
    static let undeciding = CodingKeys.names.filter { !$0.isExactly(CodingKeys.unknownFields.stringValue) }

    static let keys: [ExactText: PolicyKey] = [
        "token_ttl": tokenLifetime("The lifetime of the tokens that are issued for this evidence."),
        "shadow": """
        Shadow settings: evidence that they would refuse is accepted, and its record has `would_refuse`.
        """,
        "refusal_status": """
        The HTTP status of refusals, by the provider's reasons: 401, 403 or 429. It decides how long clients are silent; the default is \
        the reason's own, nearly always 403.
        """,
        "unknown_fields": PolicyKey(
            """
            What becomes of an exchange with a field that the method does not have: `refuse` answers 400 and names the field, as Google's \
            service does; `ignore` is for clients that send more.
            """, standard: .string(UnknownFields.refuse.rawValue)),
    ]

    /// One hour, as in Google's service.
    static let defaultTokenLifetime = Duration.seconds(3600)

    /// A key with a token lifetime in the range of Google's service, in whole seconds.
    static func tokenLifetime(_ text: String) -> PolicyKey {
        PolicyKey(
            text, .durations(.seconds(1800)...(.seconds(7 * 86_400))),
            standard: .string(DurationText.text(defaultTokenLifetime))
        ).enforced("expected a duration from 30m to 7d, in whole seconds") { text in
            YAMLNode.duration(text).map { $0 == .seconds($0.wholeSeconds) } ?? true
        }
    }
}

/// What becomes of requests with a field that their method does not have.
enum UnknownFields: String, Decodable, CaseIterable {
    case refuse, ignore
}

/// The keys that the kernel reads in every consumer's section.
package enum ConsumerKeys {
    /// The demand on App Check tokens.
    package static let tokens = "tokens"
    /// The issuers whose JWTs name users.
    package static let actors = "actors"
    static let all = [tokens, actors]
}

extension CaseIterable where Self: RawRepresentable, RawValue == String {
    /// The keys of a section, in its order.
    static var names: [String] { allCases.map(\.rawValue) }
}
