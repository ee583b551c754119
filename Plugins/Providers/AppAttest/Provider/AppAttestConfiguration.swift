public import AssayCore
internal import AssayCrypto
internal import AssayKit

/// The section `app_attest` of a policy.
///
/// Every key may be omitted; the defaults are what the App Store's apps fulfil.
public struct AppAttestConfiguration: Decodable, Sendable {
    /// What happens to the receipt that comes with an attestation.
    public enum Receipts: String, Decodable, Sendable, CaseIterable {
        /// A missing or wrong receipt makes the attestation refused.
        case required
        /// The receipt is verified, and the outcome is recorded, also that it is missing.
        case recorded
        /// The receipt is not looked at.
        case ignored
    }

    /// How the system came to trust the app (iOS 27 and macOS 27).
    public enum Category: String, Decodable, Sendable, CaseIterable {
        case system
        case testFlight = "test_flight"
        case development
        case appStore = "app_store"
        case enterprise
        case developerID = "developer_id"
    }

    /// What happens to devices that do not report a category, as all did before iOS 27.
    public enum Unreported: String, Decodable, Sendable, CaseIterable {
        case allowed
        case refused
    }

    /// The environments that keys may be from; when absent, `[production]`, and both in a project for development.
    public let environments: [AppAttestEnvironment]?
    /// `recorded` when absent.
    public let receipts: Receipts?
    /// The accepted categories; any when absent.
    public let validationCategories: [Category]?
    /// `allowed` when absent; of no meaning without `validation_categories`.
    public let unreportedValidationCategory: Unreported?
    /// A certificate in PEM to trust instead of Apple's App Attest root: for simulated devices only.
    public let trustAnchor: String?
    /// A certificate in PEM to trust instead of Apple's root of receipts: for simulated devices only.
    public let receiptTrustAnchor: String?
    /// Whether and how receipts are exchanged for Apple's risk metric; they are not when absent.
    public let riskMetric: RiskMetricConfiguration?
    /// Whether tokens name the attested key, so that requests can be proved by it; false when absent.
    public let keyInTokens: Bool?

    enum CodingKeys: String, CodingKey {
        case environments
        case receipts
        case validationCategories = "validation_categories"
        case unreportedValidationCategory = "unreported_validation_category"
        case trustAnchor = "trust_anchor"
        case receiptTrustAnchor = "receipt_trust_anchor"
        case riskMetric = "risk_metric"
        case keyInTokens = "key_in_tokens"
    }
}

extension AppAttestConfiguration {
    /// SHA-256 of the key of the root that attestations are verified under; nil when that is Apple's.
    func root() throws(ConfigurationError) -> [UInt8]? {
        guard !trustAnchor.isNil else { return nil }
        let point = try attestationAnchor().certificate.key.bytes
        let apple = (try? AppleRoots.appAttestAnchor())?.certificate.key.bytes
        return point == apple ? nil : SHA256.hash(point)
    }

    func verifier() throws(ConfigurationError) -> AttestationVerifier {
        let receipts = receipts ?? .recorded
        guard !trustAnchor.isNil || !receiptTrustAnchor.isNil else { return try AppleVerifiers.verifier(receipts) }
        let anchor = try attestationAnchor()
        return AttestationVerifier(anchors: [anchor], receipts: receipts.requirement(anchor: try receiptAnchor()))
    }

    /// What watches over risk metrics; nil where the policy does not ask for them.
    func watch(
        team: String, appID: AppAttestAppID, host: PluginHost
    ) throws(ConfigurationError) -> RiskMetricWatch? {
        guard let riskMetric else { return nil }
        guard receipts != .ignored else {
            throw ConfigurationError(at: ["receipts"], "`risk_metric` needs receipts that are verified")
        }
        let anchor = try receiptAnchor()
        let verifier =
            receiptTrustAnchor.isNil ? try AppleVerifiers.receiptVerifier() : ReceiptVerifier(anchors: [anchor])
        do throws(ConfigurationError) {
            return try RiskMetricWatch(
                riskMetric, team: team, appID: appID, verifier: verifier,
                root: SHA256.hash(Array(anchor.certificate.encoded)), host: host)
        } catch {
            throw ConfigurationError(at: ["risk_metric"] + error.path, error.message)
        }
    }

    private func receiptAnchor() throws(ConfigurationError) -> TrustAnchor {
        try Self.anchor(receiptTrustAnchor, key: "receipt_trust_anchor", otherwise: AppleRoots.receiptAnchor)
    }

    private func attestationAnchor() throws(ConfigurationError) -> TrustAnchor {
        try Self.anchor(trustAnchor, key: "trust_anchor", otherwise: AppleRoots.appAttestAnchor)
    }

    private static func anchor(
        _ pem: String?, key: String, otherwise apple: () throws(CertificateError) -> TrustAnchor
    ) throws(ConfigurationError) -> TrustAnchor {
        var der: [UInt8]?
        if let pem {
            der = PEMCertificate.decode(pem)
            guard der != nil else {
                throw ConfigurationError(
                    at: [.key(key)],
                    "expected one certificate in PEM, from BEGIN CERTIFICATE to END CERTIFICATE: its text, not the name of a file"
                )
            }
        }
        do throws(CertificateError) {
            guard let der else { return try apple() }
            return try TrustAnchor(der: der, accepting: .ecdsa)
        } catch {
            throw ConfigurationError(at: [.key(key)], "not a certificate that can be trusted: \(error)")
        }
    }
}

/// The verifiers with Apple's roots: all apps share them, with their cache of the intermediate certificate.
private enum AppleVerifiers {
    private static let required = make(.required)
    private static let recorded = make(.recorded)
    private static let ignored = make(.ignored)

    private static let receipts = Result { () throws(CertificateError) in try ReceiptVerifier() }

    /// What verifies receipts that come in exchange.
    static func receiptVerifier() throws(ConfigurationError) -> ReceiptVerifier {
        do throws(CertificateError) {
            return try receipts.get()
        } catch {
            throw ConfigurationError("Apple's roots cannot be used: \(error)")
        }
    }

    static func verifier(_ receipts: AppAttestConfiguration.Receipts) throws(ConfigurationError) -> AttestationVerifier
    {
        do throws(CertificateError) {
            return switch receipts {
            case .required: try required.get()
            case .recorded: try recorded.get()
            case .ignored: try ignored.get()
            }
        } catch {
            throw ConfigurationError("Apple's roots cannot be used: \(error)")
        }
    }

    private static func make(
        _ receipts: AppAttestConfiguration.Receipts
    ) -> Result<AttestationVerifier, CertificateError> {
        Result { () throws(CertificateError) in
            AttestationVerifier(
                anchors: [try AppleRoots.appAttestAnchor()],
                receipts: receipts.requirement(anchor: try AppleRoots.receiptAnchor()))
        }
    }
}

extension AppAttestConfiguration.Receipts {
    /// How far a receipt may be in the past (Apple, Assessing Fraud Risk: five minutes).
    private static let age = Duration.seconds(300)

    fileprivate func requirement(anchor: TrustAnchor) -> ReceiptRequirement {
        switch self {
        case .required: .required(ReceiptVerifier(anchors: [anchor]), maximumAge: Self.age)
        case .recorded: .recorded(ReceiptVerifier(anchors: [anchor]), maximumAge: Self.age)
        case .ignored: .unchecked
        }
    }
}

extension AppAttestConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "environments": PolicyKey(
            """
            The environments that keys may be from: `production` for the App Store and TestFlight, `development` for builds \
            that Xcode installs. In a project of the stage `development` both are the default.
            """, .notEmpty, standard: ["production"], development: .words(["development"])),
        "receipts": PolicyKey(
            """
            What happens when the receipt of an attestation is missing or wrong, such as that of another device: the \
            attestation is refused (`required`), the reason is recorded (`recorded`), or nothing is checked (`ignored`).
            """, standard: "recorded"),
        "validation_categories": PolicyKey(
            "The ways in which the system may trust the app (iOS 27 and macOS 27); all when absent.", .notEmpty,
            examples: [["app_store", "test_flight"]], development: .words(["development"])),
        "unreported_validation_category": PolicyKey(
            "What happens to devices that do not report a category, as all did before iOS 27.", standard: "allowed"),
        "trust_anchor": PolicyKey(
            "A certificate in PEM to trust instead of Apple's App Attest root: for simulated devices only.",
            development: .anyValue),
        "receipt_trust_anchor": PolicyKey(
            "A certificate in PEM to trust instead of Apple's root of receipts: for simulated devices only.",
            development: .anyValue),
        "key_in_tokens": PolicyKey(
            "Whether tokens name the attested key (claim `cnf`), so that apps can prove single requests by it.",
            standard: false),
        "risk_metric":
            "Keeps receipts and exchanges them at Apple's servers for newer ones with a risk metric; not done when absent.",
    ]
}

/// One certificate in textual encoding (RFC 7468, section 5).
enum PEMCertificate {
    /// The DER of the only certificate in a text; nil for any other text.
    static func decode(_ text: String) -> [UInt8]? {
        let lines = text.unicodeScalars.split { $0.properties.isWhitespace && $0 != " " && $0 != "\t" }
            .map { Substring($0).trimmedASCII }.filter { !$0.isEmpty }
        guard lines.count >= 3, lines.count <= 200, lines[0].isExactly("-----BEGIN CERTIFICATE-----"),
            lines[lines.count - 1].isExactly("-----END CERTIFICATE-----")
        else { return nil }
        return Base64.decode(lines.dropFirst().dropLast().joined())
    }
}
