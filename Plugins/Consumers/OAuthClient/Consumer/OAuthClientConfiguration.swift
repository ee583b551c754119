public import AssayCore

/// The section `oauth_client` of a project: for which authorization servers this service attests clients, and which of
/// its parts they use.
///
/// A part that is absent refuses.
public struct OAuthClientConfiguration: Decodable, Sendable {
    /// The issuer identifiers of the authorization servers (RFC 8414, section 2).
    public let authorizationServers: [AudienceName]
    /// The OAuth clients that apps are, by their app IDs, where tokens are not issued for the OAuth client itself.
    public let clients: [ExactText: ClientIdentifier]?
    /// Client attestations for App Check tokens.
    public let attester: AttesterConfiguration?
    /// Verification of client attestations and their proofs.
    public let verifier: AttestationVerifierConfiguration?
    /// App Check tokens as client assertions, as Google Sign-In sends them.
    public let clientAssertion: ClientAssertionConfiguration?
    /// Introspection of App Check tokens and client attestations (RFC 7662).
    public let introspection: IntrospectionConfiguration?
    /// Attestation results for relying parties that speak RATS.
    public let ear: AttestationResultConfiguration?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case authorizationServers = "authorization_servers"
        case clients, attester, verifier
        case clientAssertion = "client_assertion"
        case introspection, ear
    }
}

extension OAuthClientConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "authorization_servers": PolicyKey(
            """
            The authorization servers, by their issuer identifiers: what proofs of clients are made for, and the audience \
            by which requests choose this section.
            """, .notEmpty, examples: [["https://login.example.com"]]),
        "clients": PolicyKey(
            "The OAuth client of each app, by app IDs; tokens of `oauth_clients` need no entry.",
            examples: [["1:1234567890:ios:321abc456def7890": "example-ios"]]),
        "attester": "Client attestations in exchange for App Check tokens; none are issued when absent.",
        "verifier": "Verification of client attestations for authorization servers; none are verified when absent.",
        "client_assertion": """
        App Check tokens as client assertions of authorization requests, as Google Sign-In sends them; none are verified \
        when absent.
        """,
        "introspection": "Introspection of App Check tokens and client attestations (RFC 7662); none when absent.",
        "ear": "Attestation results for relying parties that use RATS (EAR); none are issued when absent.",
    ]
}

/// Checks of values that several parts have.
extension ConfigurationProblems {
    mutating func check(
        _ duration: Duration?, in range: ClosedRange<Duration>, at path: [ConfigurationError.Component]
    ) {
        guard let duration else { return }
        guard range.contains(duration), duration == .seconds(duration.wholeSeconds) else {
            report(
                at: path,
                "expected whole seconds from \(range.lowerBound.wholeSeconds)s to \(range.upperBound.wholeSeconds)s")
            return
        }
    }

    mutating func check(_ text: String?, upTo limit: Int, at path: [ConfigurationError.Component]) {
        guard let text, !(1...limit).contains(text.unicodeScalars.count) else { return }
        report(at: path, "expected 1 to \(limit) characters")
    }

    /// A list, if present, has at least one element.
    mutating func checkNotEmpty<Element>(_ list: [Element]?, at path: [ConfigurationError.Component]) {
        if list?.isEmpty == true { report(at: path, "expected at least one; leave the key out") }
    }

    /// Names by which requests choose: at least one, and each once.
    mutating func check(audiences: [AudienceName], at path: [ConfigurationError.Component]) {
        if audiences.isEmpty { report(at: path, "expected at least one") }
        for (index, audience) in audiences.enumerated() where audiences[..<index].contains(audience) {
            report(at: path + [.index(index)], "it is repeated here")
        }
    }
}
