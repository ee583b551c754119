internal import AssayJWT
public import AssayKit

extension CustomTokenConfiguration: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "service_accounts": "Service accounts, whose tokens Admin SDKs make with `createToken`.",
        "issuers": "Issuers whose keys are published, for those who have no service accounts.",
    ]
}

extension CustomTokenConfiguration.ServiceAccount: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "email": PolicyKey(
            "The account's address, which is `iss` and `sub` of its tokens. A key file says it, too.",
            .pattern("^(?=[\\s\\S]{3,320}$)[\\s\\S]*@[\\s\\S]*$"),
            examples: ["tokens@example-project.iam.gserviceaccount.com"]),
        "certificate": "The account's certificate in PEM.",
        "public_key": "The account's public key in PEM.",
        "key_file":
            "Where the account's key file (JSON) is to be found: `file:PATH` or `env:NAME`. Only its public half is used.",
    ]

    public static let alternatives = [["public_key", "certificate", "key_file"]]
}

extension CustomTokenConfiguration.Issuer: DescribedConfiguration {
    public static var keys: [ExactText: PolicyKey] {
        let own: [ExactText: PolicyKey] = [
            "app_claim": PolicyKey("The claim that names the app, by its path with dots.", standard: "app_id")
        ]
        return TrustedIssuerConfiguration.keys.merging(own) { $1 }
    }
}
