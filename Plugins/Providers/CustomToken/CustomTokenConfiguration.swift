public import AssayCore
public import AssayVerifier

/// The section `custom` of a policy: whose tokens are accepted for an app.
///
/// At least one must be named.
public struct CustomTokenConfiguration: Decodable, Sendable {
    /// Service accounts, whose tokens Admin SDKs make with `createToken`.
    public let serviceAccounts: [ServiceAccount]?
    /// Issuers that publish their keys, for operators without service accounts.
    public let issuers: [Issuer]?

    /// A service account: its e-mail address, and its key in one of three forms.
    public struct ServiceAccount: Decodable, Sendable {
        /// The address, which is both `iss` and `sub` of its tokens.
        ///
        /// A key file says it, too.
        public let email: String?
        /// The account's certificate in PEM.
        public let certificate: String?
        /// The account's public key in PEM.
        public let publicKey: String?
        /// Where the account's key file (JSON) is; only its public half is used.
        public let keyFile: SecretReference?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case email, certificate
            case publicKey = "public_key"
            case keyFile = "key_file"
        }
    }

    /// A trusted issuer, and where its tokens name the app.
    public struct Issuer: Decodable, Sendable {
        /// The issuer, its audience and its keys.
        public let trusted: TrustedIssuerConfiguration
        /// The claim that names the app, by its path with dots: `app_id` when absent.
        public let appClaim: String?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case appClaim = "app_claim"
        }

        /// Decodes an issuer together with `app_claim`.
        public init(from decoder: any Decoder) throws {
            trusted = try TrustedIssuerConfiguration(from: decoder)
            appClaim = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .appClaim)
        }
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case serviceAccounts = "service_accounts"
        case issuers
    }
}

extension CustomTokenConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "service_accounts": "Service accounts, whose tokens Admin SDKs make with `createToken`.",
        "issuers": "Issuers that publish their keys, for operators without service accounts.",
    ]
}

extension CustomTokenConfiguration.ServiceAccount: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "email": PolicyKey(
            "The account's address, which is `iss` and `sub` of its tokens. A key file contains it.",
            .pattern("^(?=[\\s\\S]{3,320}$)[\\s\\S]*@[\\s\\S]*$"),
            examples: ["tokens@example-project.iam.gserviceaccount.com"]),
        "certificate": "The account's certificate in PEM.",
        "public_key": "The account's public key in PEM.",
        "key_file":
            "The location of the account's key file (JSON): `file:PATH` or `env:NAME`. Only its public half is used.",
    ]

    /// Groups of keys of which exactly one must be present.
    public static let alternatives = [["public_key", "certificate", "key_file"]]
}

extension CustomTokenConfiguration.Issuer: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static var keys: [ExactText: PolicyKey] {
        let own: [ExactText: PolicyKey] = [
            "app_claim": PolicyKey("The claim that names the app, by its path with dots.", standard: "app_id")
        ]
        return TrustedIssuerConfiguration.keys.merging(own) { $1 }
    }
}
