internal import AssayCore
internal import AssayYAML

/// The keys of an entry of `deny` that are no facts.
struct DenySection: DescribedConfiguration {
    let token: Checked<String>?
    let app: Checked<String>?
    let until: Checked<Instant>?
    let note: Checked<String>?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case token = "jti"
        case app, until, note
    }

    static let keys: [ExactText: PolicyKey] = [
        "jti": PolicyKey("The token with this `jti`, instead of facts.", .length(1...1024))
            .enforced("a `jti` has 1 to 1024 bytes"),
        "app": "The app or OAuth client that the entry is about; all when absent.",
        "until": PolicyKey("When the entry ends; never when absent.", examples: ["2027-01-01T00:00:00Z"]),
        "note": PolicyKey(
            "Why the entry is there; records have it.", .length(0...200), examples: ["incident 42"]
        ).enforced("a note has at most 200 bytes"),
    ]
}
