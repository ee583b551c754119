internal import AssayCore

/// Makes attestation results of verified tokens (draft-ietf-rats-ear): what RATS calls a verifier's word to a relying party.
struct AttestationResults: Sendable {
    let audiences: [String]
    let lifetime: Duration
    private let profile: String
    private let developer: String
    private let build: String
    private let policyIDs: [String]
    private let separator: String
    private let providers: [ExactText: TrustworthinessVector]

    init(_ configuration: AttestationResultConfiguration, problems: inout ConfigurationProblems) {
        let path: [ConfigurationError.Component] = ["ear"]
        problems.check(audiences: configuration.audiences, at: path + ["audiences"])
        problems.check(configuration.lifetime, in: AttestationResultConfiguration.lives, at: path + ["ttl"])
        problems.check(configuration.profile, upTo: 256, at: path + ["profile"])
        problems.check(configuration.developer, upTo: 256, at: path + ["developer"])
        problems.check(configuration.build, upTo: 256, at: path + ["build"])
        problems.checkNotEmpty(configuration.policyIDs, at: path + ["policy_ids"])
        audiences = configuration.audiences.map(\.text)
        lifetime = configuration.lifetime ?? AttestationResultConfiguration.standardLifetime
        profile = configuration.profile ?? EARProfile.standard
        developer = configuration.developer ?? EARProfile.developer
        build = configuration.build ?? "assay \(AssayVersion.text)"
        policyIDs = configuration.policyIDs ?? []
        separator = configuration.dottedNames == true ? "." : "_"
        var providers: [ExactText: TrustworthinessVector] = [:]
        for (provider, section) in configuration.providers ?? [:] {
            for (claim, number) in section.numbers where !TrustworthinessVector.range.contains(number) {
                problems.report(
                    at: path + ["providers", .key(provider.string), .key(claim.rawValue)],
                    "expected a number from -128 to 127"
                )
            }
            providers[provider] = TrustworthinessVector(numbers: section.numbers)
        }
        self.providers = providers
    }

    /// When a result ends: not after the token that it is made of.
    func end(of token: VerifiedToken, now: Instant) -> Instant {
        min(now + lifetime, token.expires)
    }

    /// The claims of a result.
    ///
    /// - Parameter nonce: the value that the relying party expects in it; nil for none.
    func claims(
        of token: VerifiedToken, for audience: String, nonce: String?, issuer: String, now: Instant
    ) -> JSON {
        let vector = token.provider.flatMap { providers[$0] } ?? .standard(for: token.provider)
        let status: JSON = .string(vector.status.name)
        var appraisal = [JSONMember(name("ear", "status"), status)]
        let numbers = TrustworthinessVector.Claim.allCases.compactMap { claim in
            vector.numbers[claim].map { JSONMember(claim.rawValue, .integer(Int64($0))) }
        }
        if !numbers.isEmpty {
            appraisal.append(JSONMember(name("ear", "trustworthiness-vector"), .object(numbers)))
        }
        if !policyIDs.isEmpty {
            appraisal.append(
                JSONMember(name("ear", "appraisal-policy-ids"), .array(policyIDs.map { .string($0) })))
        }
        var claims = [
            JSONMember("eat_profile", .string(profile)), JSONMember("iss", .string(issuer)),
            JSONMember("sub", .string(token.subject)), JSONMember("aud", .string(audience)),
            JSONMember("iat", .integer(now.seconds)), JSONMember("exp", .integer(end(of: token, now: now).seconds)),
            JSONMember(
                name("ear", "verifier-id"),
                .object(["developer": .string(developer), "build": .string(build)])),
            JSONMember(name("ear", "status"), status),
            JSONMember("submods", .object([JSONMember(EARProfile.submodule, .object(appraisal))])),
        ]
        if let nonce { claims.append(JSONMember("eat_nonce", .string(nonce))) }
        return .object(claims)
    }

    /// `ear_appraisal_policy_ids` or, as older drafts spelled it, `ear.appraisal-policy-ids`.
    private func name(_ prefix: String, _ rest: String) -> String {
        if separator.isExactly(".") { return "\(prefix).\(rest)" }
        let words = rest.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
        return "\(prefix)_\(String(decoding: words, as: UTF8.self))"
    }
}

/// What EAT attestation results are called (draft-ietf-rats-ear; RFC 9711; RFC 9782).
enum EARProfile {
    /// `eat_profile` of the third draft.
    static let standard = "tag:ietf.org,2026:rats/ear#03"
    /// `developer` of `ear_verifier_id`.
    static let developer = "assay"
    /// `typ` of the header.
    static let type = "eat+jwt"
    /// The values of `requested_token_type`, in addition to that of a JWT.
    static let requestedTypes: Set<ExactText> = ["application/eat+jwt", "application/eat-jwt"]
    /// The label of the one attester in `submods`.
    static let submodule = "app"
    /// How many characters `eat_nonce` has (RFC 9711, section 4.1).
    static let nonceLengths = 8...88
}
