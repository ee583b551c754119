public import AssayCore

extension [MethodDescriptor] {
    /// The App Check methods of Google that are not the kernel's own (the discovery documents of v1 and v1beta).
    ///
    /// A program shows the settings of providers that it does not have as Google shows unused ones: tools ask for those of every provider of a
    /// platform. It answers 501 UNIMPLEMENTED to all other methods that no plugin offers. After a 404, clients and their authors would
    /// look for a mistake in the address, and SDKs would not ask again for a day (iOS, Android, Web). After a 501 they ask
    /// again after some hours at the latest, and a program that has the plugin by then answers.
    public static var appCheck: [MethodDescriptor] { AppCheckMethods.all }
}

/// The descriptors of `[MethodDescriptor].appCheck`.
private enum AppCheckMethods {
    static let all = exchanges + configs + debugTokens + automations

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

    /// The settings with Google's defaults (the discovery document, rev 20261106).
    private static let configs: [MethodDescriptor] = [
        ("AppAttest", hour), ("DeviceCheck", hour), ("PlayIntegrity", hour),
        ("RecaptchaEnterprise", ["tokenTtl": "3600s", "riskAnalysis": ["minValidScore": .number(0.5)]]),
        ("RecaptchaV3", recaptcha), ("Recaptcha", recaptcha),
    ].flatMap { word, standard -> [MethodDescriptor] in
        let name = word.prefix(1).lowercasedASCII + word.dropFirst() + "Config"
        let versions = word.isExactly("Recaptcha") ? [APIVersion.v1beta] : APIVersion.allCases
        return [
            ("get\(word)Config", ResourceKind.app, MethodPath(.get, "/\(name)", versions: versions)),
            (
                "update\(word)Config", .app,
                MethodPath(.patch, "/\(name)", body: .field("config"), query: ["updateMask"], versions: versions)
            ),
            (
                "batchGet\(word)Configs", .project,
                MethodPath(.get, "/apps/-/\(name):batchGet", query: ["names"], versions: versions)
            ),
        ].map {
            MethodDescriptor(
                name: $0, kind: .unset(resource: ExactText(name), standard: standard), resources: [$1], path: $2)
        }
    }
    private static let hour: JSON = ["tokenTtl": "3600s"]
    private static let recaptcha: JSON = ["tokenTtl": "86400s", "minValidScore": .number(0.5)]

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
