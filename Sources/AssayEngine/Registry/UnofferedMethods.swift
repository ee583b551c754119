internal import AssayCore
internal import AssayKit

/// The methods of Google's service that a program lacks: those of other kinds of evidence, and automations.
///
/// They answer 501 UNIMPLEMENTED. After a 404, client authors would look for an error in the address, and clients would
/// make no request for a day (iOS, Android, Web). After a 501, clients try again within hours, and a program that has
/// the plugin by then answers them.
enum UnofferedMethods {
    /// - Parameter offered: the methods of the program; a method with one of their rules is left out.
    static func all(beside offered: [MethodDescriptor]) -> [KernelMethod] {
        let names = Set(offered.map(\.name))
        let shapes = Set(offered.flatMap(\.rules).map(shape))
        return appCheck.filter { !names.contains($0.name) }.compactMap { method in
            let rules = method.rules.filter { !shapes.contains(shape($0)) }
            guard !rules.isEmpty else { return nil }
            let descriptor = MethodDescriptor(
                name: method.name, kind: method.kind, resources: method.resources, rules: rules)
            return KernelMethod(descriptor: descriptor) { _ in
                throw CallFailure(.unimplemented, "This server does not offer the method \(method.name).")
            }
        }
    }

    /// A rule without the names of its variables.
    private static func shape(_ rule: HTTPRule) -> String {
        var shape = rule.verb.rawValue + " "
        var rest = rule.template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let pattern = rest[open..<close].split(separator: "=", maxSplits: 1).dropFirst().first
            shape += rest[..<open] + (pattern ?? "*")
            rest = rest[close...].dropFirst()
        }
        return shape + rest
    }

    /// The App Check methods of Google that are not the kernel's own (the discovery documents of v1 and v1beta).
    private static let appCheck = exchanges + configs + debugTokens + automations

    private static let exchanges: [MethodDescriptor] =
        [
            "generateAppAttestChallenge", "exchangeAppAttestAttestation", "exchangeAppAttestAssertion",
            "exchangeDebugToken",
        ]
        .map { method($0, [.app, .oauthClient], MethodPath(.post, ":\($0)"), nil) }
        + [
            "exchangeDeviceCheckToken", "exchangeCustomToken", "generatePlayIntegrityChallenge",
            "exchangePlayIntegrityToken", "exchangeRecaptchaEnterpriseToken", "exchangeRecaptchaV3Token",
        ].map { method($0, [.app], MethodPath(.post, ":\($0)"), nil) }
        + [
            method(
                "exchangeRecaptchaToken", [.app], MethodPath(.post, ":exchangeRecaptchaToken", versions: [.v1beta]), nil
            )
        ]

    private static let configs: [MethodDescriptor] = [
        "AppAttest", "DeviceCheck", "PlayIntegrity", "RecaptchaEnterprise", "RecaptchaV3", "Recaptcha",
    ].flatMap { word -> [MethodDescriptor] in
        let name = word.prefix(1).lowercasedASCII + word.dropFirst() + "Config"
        let versions = word.isExactly("Recaptcha") ? [APIVersion.v1beta] : APIVersion.allCases
        return [
            method("get\(word)Config", [.app], MethodPath(.get, "/\(name)", versions: versions)),
            method("update\(word)Config", [.app], MethodPath(.patch, "/\(name)", versions: versions)),
            method(
                "batchGet\(word)Configs", [.project], MethodPath(.get, "/apps/-/\(name):batchGet", versions: versions)),
        ]
    }

    private static let debugTokens: [MethodDescriptor] = [
        method("createDebugToken", [.app], MethodPath(.post, "/debugTokens")),
        method("listDebugTokens", [.app], MethodPath(.get, "/debugTokens")),
        method("getDebugToken", [.app], MethodPath(.get, "/debugTokens/{debugTokenId}")),
        method("updateDebugToken", [.app], MethodPath(.patch, "/debugTokens/{debugTokenId}")),
        method("deleteDebugToken", [.app], MethodPath(.delete, "/debugTokens/{debugTokenId}")),
    ]

    private static let automations: [MethodDescriptor] = [
        ("ServiceAutomation", "/services/{serviceId}/automations"),
        (
            "ResourcePolicyAutomation",
            "/services/{serviceId}/resourcePolicies/{resourcePolicyId}/automations"
        ),
    ].flatMap { word, path in
        [
            method("list\(word)s", [.project], MethodPath(.get, path, versions: [.v1beta])),
            method("get\(word)", [.project], MethodPath(.get, "\(path)/{automationId}", versions: [.v1beta])),
            method("update\(word)", [.project], MethodPath(.patch, "\(path)/{automationId}", versions: [.v1beta])),
        ]
    }

    private static func method(
        _ name: String, _ resources: Set<ResourceKind>, _ path: MethodPath, _ permission: Permission? = .admin
    ) -> MethodDescriptor {
        MethodDescriptor(name: name, kind: .notOffered(permission), resources: resources, path: path)
    }
}
