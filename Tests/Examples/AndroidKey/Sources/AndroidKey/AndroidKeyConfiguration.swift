public import AssayCore

/// The section `android_key` of an app.
public struct AndroidKeyConfiguration: DescribedConfiguration, Sendable {
    let package: String
    let signers: [String]
    let roots: [SecretReference]
    let minimumPatchLevel: Int?

    enum CodingKeys: String, CodingKey {
        case package, roots
        case signers = "signing_certificates"
        case minimumPatchLevel = "minimum_patch_level"
    }

    /// The keys of the section, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "package": PolicyKey("The name of the app's package.", examples: ["com.example.app"]),
        "signing_certificates": PolicyKey(
            "The SHA-256 of each certificate that the app may be signed with, in hexadecimal.", .notEmpty),
        "roots": PolicyKey(
            "The locations of the certificates of the authorities that certify devices, in PEM: `file:PATH` or `env:NAME`.",
            .notEmpty),
        "minimum_patch_level": PolicyKey(
            "The month of the oldest accepted security update; any when absent.", .range(201_501...299_912),
            examples: [202_601]),
    ]
}
