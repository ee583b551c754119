internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// An entry of `projects`.
struct ProjectSection: DescribedConfiguration {
    let number: Checked<String>
    let id: Checked<String>
    let stage: Checked<ProjectStage>?
    let issuer: Checked<String>?
    let verification: Checked<VerificationSection>?
    let services: Undecoded<[String: ServiceSection]>?
    let consumers: Undecoded<Never>?
    let apps: Undecoded<[AppSection]>?
    let clients: Undecoded<[OAuthClientSection]>?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case number, id, stage, issuer, verification, services, consumers, apps
        case clients = "oauth_clients"
    }

    static let keys: [ExactText: PolicyKey] = [
        "number": PolicyKey(
            "The project's number, which tokens name as their issuer.", .pattern("^[1-9][0-9]{0,19}$"),
            examples: [1_234_567_890]
        ).enforced(
            "expected a project number: decimal digits without leading zeros", where: Identifiers.isProjectNumber),
        "id": PolicyKey(
            "The project's ID, which clients may use instead of the number.",
            .pattern("^(?=.*[^0-9])[A-Za-z0-9.:-]{1,63}$"), examples: ["example-project"]
        ).enforced("expected a project ID such as example-project", where: Identifiers.isProjectID),
        "stage": PolicyKey(
            """
            What the project is for. With `development`, each `accept_development` that is absent is `true`, and so \
            are Apple's environments for development the default.
            """, standard: .string(ProjectStage.production.rawValue),
            development: .words([ExactText(ProjectStage.development.rawValue)])),
        "issuer": PolicyKey(
            """
            The text before the project's number in a token's `iss`. Unmodified Admin SDKs accept only the standard.
            """, .pattern("^(?=.{10,255}$)https://[!-~]+/$"), standard: .string(defaultIssuer), development: .none
        ).enforced(
            "expected an https URL that ends in a slash; the project's number follows it",
            where: Identifiers.isIssuerPrefix),
        "verification": "What `verifyAppCheckToken` accepts.",
        "services":
            "The levels of protection of services, by their names: those of Google's App Check, and your own.",
        "consumers": "The consumers of the project's tokens.",
        "apps": "The project's apps.",
        "oauth_clients":
            "The project's OAuth clients of Google Sign-In's kind, each linked to one of its apps.",
    ]

    static let defaultIssuer = "https://firebaseappcheck.googleapis.com/"
}

/// An entry of `projects` that adds apps to a project of another place.
struct ProjectAdditionSection: DescribedConfiguration {
    let project: Checked<String>
    let apps: Undecoded<[AppSection]>?
    let clients: Undecoded<[OAuthClientSection]>?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case project, apps
        case clients = "oauth_clients"
    }

    static let keys = ProjectSection.keys.merging(
        [
            "project": PolicyKey(
                "The number or the ID of a project of another place, which gets further apps.",
                examples: ["example-project"])
        ], uniquingKeysWith: { $1 })
}
