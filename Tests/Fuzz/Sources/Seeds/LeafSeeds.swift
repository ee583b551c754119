import AssayCBOR
internal import AssayCore
internal import AssayKit
import AssayTesting
import Fuzz

/// What the authority certifies, before it is signed.
enum LeafSeeds {
    static func all(_ scene: FuzzScene) throws -> [Seed] {
        try changes.map { name, change in
            Seed(.leaf, name, try toBeSigned(scene, change))
        }
    }

    private static let purpose: [UInt64] = [2, 5, 29, 37]

    private static let changes: [(String, @Sendable (inout CertificateTemplate) -> Void)] = [
        ("good-ios27", { _ in }),
        ("good-ios26", { $0.replaceExtension(.appAttestSystem(.iOS26)) }),
        ("good-without-purpose", { $0.removeExtension(purpose) }),
        (
            "good-macos27",
            {
                $0.replaceExtension(.appAttestSystem(.macOS27))
                $0.replaceExtension(.appAttestKeyPolicy(SimulatedSystem.macOS27.keyPolicy))
            }
        ),
        ("good-unknown-extension", { $0.extensions.append(ExtensionTemplate(type: [1, 2, 3], value: [5, 0])) }),
        ("bad-certificate_malformed", { $0.extensions.append($0.extensions[0]) }),
        (
            "bad-critical_extension_unknown",
            { $0.extensions.append(ExtensionTemplate(type: [1, 2, 3], isCritical: true, value: [5, 0])) }
        ),
        ("bad-nonce_extension_missing", { $0.extensions.remove(at: 5) }),
        ("bad-nonce_extension_duplicated", { $0.extensions.append($0.extensions[5]) }),
        ("bad-nonce_extension_malformed", { $0.extensions[5].value.append(0) }),
        ("bad-nonce_mismatch", { $0.extensions[5].value[20] ^= 1 }),
        ("bad-system_extension_malformed", { $0.extensions[4].value.removeLast() }),
        ("bad-macos_policy_mismatch", { $0.replaceExtension(.appAttestSystem(.macOS27)) }),
        ("bad-eku_unexpected", { $0.replaceExtension(.extendedKeyUsage([[1, 3, 6, 1, 5, 5, 7, 3, 1]])) }),
        ("bad-leaf_is_ca", { $0.extensions[0] = .authority() }),
        ("bad-leaf_expired", { $0.notAfter = $0.notBefore }),
        ("bad-leaf_not_yet_valid", { $0.notBefore = $0.notAfter }),
        ("bad-leaf_not_by_intermediate", { $0.issuer = NameTemplate(commonName: "Somebody else") }),
    ]

    /// The TBSCertificate: the first element of the certificate.
    private static func toBeSigned(
        _ scene: FuzzScene, _ change: @escaping @Sendable (inout CertificateTemplate) -> Void
    ) throws -> [UInt8] {
        let device = scene.device(.iOS27)
        var options = AttestationOptions()
        options.leaf = change
        let attestation = try device.attestKey(
            device.generateKey(), clientDataHash: FuzzScene.clientDataHash, app: FuzzScene.app, at: FuzzScene.now,
            options: options)
        let statement = try CBORDecoder().decode(attestation).map?["attStmt"]?.map
        // Both lengths take two bytes.
        let content = Array((statement?["x5c"]?.array?.first?.bytes ?? []).dropFirst(4))
        return Array(content.prefix(4 + (Int(content[2]) << 8 | Int(content[3]))))
    }
}
