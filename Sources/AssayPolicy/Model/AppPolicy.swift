package import AssayCore
public import AssayKit
public import AssayYAML

/// The policy of one app or OAuth client.
public struct AppPolicy: Sendable {
    /// The names of the app.
    ///
    /// The sections of platforms are decoded when the plugins are known.
    public internal(set) var identity: AppIdentity
    /// The text before the project's number in a token's `iss`.
    public let issuerPrefix: String
    /// The resource's other name, with the project's ID instead of its number; nil when it has only one name.
    public let alias: String?
    /// The providers, in the order of the file.
    ///
    /// What apps of a platform share is merged into their sections when the plugins are known.
    public internal(set) var providers: [ProviderPolicy]
    /// The rate limit of its calls; nil for none.
    public let rateLimit: RateLimit?
    /// The rules over what providers find; for an OAuth client, those of its app.
    public let rules: [RulePolicy]
    /// Which of its evidence is captured; nil for what the section `capture` of the file says.
    public let capture: CapturePolicy.Decisions?
    /// The keys of the app that the loader does not know; none for an OAuth client, which uses those of its app.
    package let sections: [PolicySection]
    /// Whether the identity has no errors, so that providers can be made for it.
    package internal(set) var isSound: Bool
    /// The place of the policy in its file.
    public let location: SourceLocation
    /// The policy as the files have it, with the profile merged into it.
    let node: YAMLNode
    /// The same of the app that an OAuth client is linked to; nil for an app.
    let linkedNode: YAMLNode?
}

/// The policy of one provider for one app.
public struct ProviderPolicy: Sendable {
    /// The name of a provider, which may be unknown.
    public let name: String
    /// The lifetime of session tokens.
    public let tokenLifetime: Duration
    /// Where the lifetime is stated; nil where it is the default.
    package let lifetimeLocation: SourceLocation?
    /// The provider's own section.
    public internal(set) var section: PolicySection

    /// The same provider with the shadow settings; nil for none.
    package var shadow: ProviderPolicy? { section.shadow.map { with($0) } }
}

extension ProviderPolicy {
    /// Whether exchanges may have fields that their method does not have.
    ///
    /// - Throws: a word that is neither `refuse` nor `ignore`, at its place.
    package func ignoresUnknownFields() throws(Diagnostics) -> Bool {
        try section.kernelValue(ProviderSection.CodingKeys.unknownFields.stringValue, as: UnknownFields.self) == .ignore
    }

    /// The statuses of refusals that the policy names, by the provider's reasons.
    ///
    /// - Throws: a name that is no reason of the provider, or a number that is no such status, at its place.
    package func refusalStatuses(of reasons: [Reason]) throws(Diagnostics) -> [ExactText: RefusalStatus] {
        let key = ProviderSection.CodingKeys.refusalStatus.stringValue
        let stated = try section.kernelValue(key, as: [ExactText: Int].self) ?? [:]
        var statuses: [ExactText: RefusalStatus] = [:]
        for (code, number) in stated.sorted(by: { $0.key < $1.key }) {
            let path: [ConfigurationError.Component] = [.key(key), .key(code.string)]
            guard reasons.contains(where: { $0.code.isExactly(code.string) }) else {
                throw section.diagnostics(
                    for: ConfigurationError(
                        at: path, "`\(code)` is no reason of \(name)", found: code.string, known: reasons.map(\.code)))
            }
            guard let status = RefusalStatus(rawValue: number) else {
                throw section.diagnostics(for: ConfigurationError(at: path, "expected 401, 403 or 429"))
            }
            statuses[code] = status
        }
        return statuses
    }
}
