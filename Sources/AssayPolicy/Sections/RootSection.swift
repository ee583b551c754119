internal import AssayCore
internal import AssayYAML

/// A policy file; its other keys are sections of platforms for several apps.
struct RootSection: DescribedConfiguration {
    let version: Checked<Int>?
    let revision: Checked<String>?
    let tokens: Undecoded<TokenPolicy>?
    let capture: Undecoded<CaptureSection>?
    let callers: Undecoded<Never>?
    let projects: Undecoded<[ProjectSection]>?
    let profiles: Undecoded<Never>?
    let issuers: Undecoded<Never>?
    let deny: Undecoded<[DenySection]>?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case version, revision, tokens, capture, callers, projects, profiles, issuers, deny
    }

    static let keys: [ExactText: PolicyKey] = [
        "version": PolicyKey("The version of this format.", .oneOf([1])),
        "revision": PolicyKey(
            "The operator's name for this revision of the policies; records have it next to a hash.",
            .pattern("^[A-Za-z0-9._:/+-]{1,64}$"), examples: ["2026-11-24.1"]
        ).enforced("a label is 1 to 64 letters, digits and `-._:/+`", where: Identifiers.isRevisionLabel),
        "tokens": "How tokens are signed. The section may be in one file only.",
        "capture": """
        Which evidence is captured, encrypted for a key of yours, and how long it is kept, for a server with \
        `--capture`. The section may be in one file only.
        """,
        "callers": "The callers of methods that demand a permission, by their names in audit records.",
        "projects": "The projects, their apps and their OAuth clients.",
        "profiles": """
        Parts of apps' sections, by name: an app or another profile has what a profile has, merged by key, and its own \
        keys hold. Lists are not merged; `null` takes a key away.
        """,
        "issuers": "Issuers of JWTs, by name, for `actors` of consumers and `jwt` of callers.",
        "deny": "What is refused although it is genuine: evidence by its facts, and tokens by their `jti`.",
    ]
}
