internal import AssayCore
internal import AssayYAML

/// Reads the section `services` of a project.
enum ServiceReader {
    /// - Parameters:
    ///   - acceptsDevelopment: what holds where a service does not say it.
    ///   - development: collects what a server for production refuses.
    ///   - warnings: collects what is questionable.
    static func read(
        _ section: YAMLMapping, acceptsDevelopment: Bool, development: DiagnosticSink, warnings: DiagnosticSink
    ) -> [ServicePolicy] {
        section.all().compactMap { entry, value in
            guard isServiceID(entry.key, in: section), let service = value.mapping() else { return nil }
            // Unlike a provider, a service without settings is protected by nothing.
            if entry.value.isAbsent { value.sink.report(entry.lacksValue(in: section.path)) }
            defer { service.finish() }
            if let meant = googleService(like: entry.key) {
                warnings.report(
                    entry.diagnostic(
                        "is no service of Google's App Check", in: section.path, hint: "did you mean `\(meant)`?",
                        severity: .warning))
            }
            let (named, replayProtection) = (mode(service, "enforcement"), mode(service, "replay_protection") ?? .off)
            let enforcement = named ?? .off
            // A misspelled level could be any level.
            if replayProtection > enforcement, named != nil || service.optional("enforcement") == nil {
                service.report(
                    "replay protection cannot be \(replayProtection.rawValue) where enforcement is "
                        + enforcement.rawValue, key: "replay_protection")
            }
            return ServicePolicy(
                id: entry.key, enforcement: enforcement, replayProtection: replayProtection,
                isEditable: service.optional("editable", as: Bool.self) ?? false,
                acceptsDevelopment: DevelopmentSwitch.read(service, into: development) ?? acceptsDevelopment,
                acceptsOAuthClients: service.optional("accept_oauth_clients", as: Bool.self)
                    ?? entry.key.isExactly(ServicePolicy.oauth2),
                consumption: ConsumptionReader.read(service),
                location: entry.keyLocation)
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

    private static func mode(_ service: YAMLMapping, _ key: String) -> EnforcementMode? {
        guard let value = service.optional(key), let name = value.decode(String.self) else { return nil }
        guard let mode = EnforcementMode(exactly: name) else {
            let known = EnforcementMode.allCases.map(\.rawValue)
            value.report("expected OFF, UNENFORCED or ENFORCED", hint: Spelling.guess(for: name, among: known))
            return nil
        }
        return mode
    }
}
