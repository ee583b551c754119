internal import AssayCore
internal import AssayYAML

/// An entry of `services` of a project.
struct ServiceSection: DescribedConfiguration {
    let enforcement: Checked<EnforcementMode>?
    let replayProtection: Checked<EnforcementMode>?
    let isEditable: Checked<Bool>?
    let acceptsDevelopment: Checked<Bool>?
    let acceptsOAuthClients: Checked<Bool>?
    let consumption: Checked<ConsumptionScope>?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case enforcement
        case replayProtection = "replay_protection"
        case isEditable = "editable"
        case acceptsDevelopment = "accept_development"
        case acceptsOAuthClients = "accept_oauth_clients"
        case consumption
    }

    static let keys: [ExactText: PolicyKey] = [
        "enforcement": PolicyKey(
            "Whether requests without a valid token are allowed, counted, or refused.", standard: "OFF",
            examples: ["ENFORCED"]),
        "replay_protection": PolicyKey(
            """
            The same for session tokens that were used before. Not above `enforcement`. Limited-use tokens can always \
            be used only once, unless `consumption` is `separate`.
            """, standard: "OFF"),
        "editable": PolicyKey(
            "Whether both levels may be changed through the API; changes are kept in the state.", standard: false),
        "accept_development": VerificationSection.acceptDevelopment,
        "accept_oauth_clients": PolicyKey(
            """
            Whether tokens of OAuth clients are accepted here. When absent they are for \(ServicePolicy.oauth2) only.
            """),
        "consumption": PolicyKey(
            """
            Which uses of a token count for the service: `shared`, uses everywhere, so that a limited-use token is \
            valid once in all places together; `separate`, only its own, as in Google's service; `replay_protection` then \
            decides about limited-use tokens too.
            """, standard: "shared"),
    ]
}

/// The section `verification` of a project.
struct VerificationSection: DescribedConfiguration {
    let acceptsDevelopment: Checked<Bool>?
    let consumption: Checked<ConsumptionScope>?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case acceptsDevelopment = "accept_development"
        case consumption
    }

    /// The key that lets a part of a project accept tokens of providers for development.
    static let acceptDevelopment = PolicyKey(
        """
        Whether tokens of providers for development are accepted, such as debug tokens. When absent, whether the \
        project's `stage` is `development`.
        """, development: .words(["true"]))

    static let keys: [ExactText: PolicyKey] = [
        "accept_development": acceptDevelopment,
        "consumption": PolicyKey(
            """
            Which uses of a token count for `verifyAppCheckToken`: `shared`, uses everywhere, so that a limited-use \
            token is valid once in all places together; `separate`, only its own calls, as in Google's service.
            """, standard: "shared"),
    ]
}

extension ServiceSection {
    /// Reads the section `services` of a project.
    ///
    /// - Parameters:
    ///   - acceptsDevelopment: what holds where a service does not say it.
    ///   - warnings: collects what is questionable.
    static func read(
        _ section: YAMLMapping, acceptsDevelopment: Bool, warnings: DiagnosticSink
    ) -> [ServicePolicy] {
        section.all().compactMap { entry, value in
            guard isServiceID(entry.key, in: section) else { return nil }
            // Unlike a provider, a service without settings is protected by nothing.
            if entry.value.isAbsent { value.sink.report(entry.lacksValue(in: section.path)) }
            guard let service = value.decode(ServiceSection.self) else { return nil }
            if let meant = googleService(like: entry.key) {
                warnings.report(
                    entry.diagnostic(
                        "is no service of Google's App Check", in: section.path, hint: "did you mean `\(meant)`?",
                        severity: .warning))
            }
            let enforcement = service.enforcement?.value ?? .off
            let replayProtection = service.replayProtection?.value ?? .off
            // A misspelled level could be any level.
            let isMisspelled = service.enforcement.map { $0.value == nil } ?? false
            if replayProtection > enforcement, !isMisspelled {
                value.mapping()?.report(
                    "replay protection cannot be \(replayProtection.rawValue) where enforcement is "
                        + enforcement.rawValue, key: CodingKeys.replayProtection.rawValue)
            }
            return ServicePolicy(
                id: entry.key, enforcement: enforcement, replayProtection: replayProtection,
                isEditable: service.isEditable?.value ?? false,
                acceptsDevelopment: service.acceptsDevelopment?.value ?? acceptsDevelopment,
                acceptsOAuthClients: service.acceptsOAuthClients?.value ?? entry.key.isExactly(ServicePolicy.oauth2),
                consumption: service.consumption?.value ?? .shared, location: entry.keyLocation)
        }
    }

    /// A misspelled name of a Google service would protect nothing.
    private static func isServiceID(_ text: String, in section: YAMLMapping) -> Bool {
        guard Identifiers.isServiceID(text) else {
            section.report("a service's name is 1 to 100 letters, digits, `-`, `.` and `_`", key: text)
            return false
        }
        guard !text.ends(withExactly: ".googleapis.com") || ServicePolicy.googleServices.contains(exactly: text) else {
            section.report(
                "unknown service of Google's App Check: `\(text)`", key: text,
                hint: Spelling.hint(for: text, among: ServicePolicy.googleServices))
            return false
        }
        return true
    }

    /// Google's service that a name resembles without being one.
    private static func googleService(like text: String) -> String? {
        let known = ServicePolicy.googleServices
        guard !known.contains(exactly: text) else { return nil }
        if let near = Spelling.suggestion(for: text, among: known) { return near }
        let parts = text.lowercasedASCII.split(onASCII: ".", maxSplits: 1).map { String($0) }
        guard let first = parts.first, parts.last.isExactly(first) || parts.last?.starts(withExactly: "google") ?? false
        else { return nil }
        return known.first { $0.starts(withExactly: "\(first).") }
    }
}
