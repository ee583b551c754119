import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting

/// Attestations whose certificates are wrong; the receipt repeats the leaf as it stands.
extension NegativeCase<AttestationScene> {
    static let certificates: [Self] = forms + path + validity + leafKey + purposes + system

    private static let forms: [Self] = [
        .refused(Reasons.certificateMalformed, "a leaf that is no certificate") {
            $0.options.chain = { $0[0] = [0x30, 0x03, 0x02, 0x01, 0x01] }
        },
        .refused(Reasons.certificateMalformed, "an empty leaf") { $0.options.chain = { $0[0] = [] } },
        .refused(Reasons.certificateMalformed, "a leaf with a byte behind it") {
            $0.options.chain = { $0[0].append(0) }
        },
        .refused(Reasons.certificateMalformed, "a leaf of a negative version") {
            $0.options.chain = { $0[0] = $0[0].replacingFirst([0xA0, 3, 2, 1, 2], with: [0xA0, 3, 2, 1, 0xFF]) }
        },
        .refused(Reasons.certificateMalformed, "a leaf with PEM around it") {
            $0.options.chain = { $0[0] = Array("-----BEGIN CERTIFICATE-----".utf8) + $0[0] }
        },
        .refused(Reasons.certificateMalformed, "two basic constraints in the leaf") {
            $0.options.leaf = { $0.extensions.append(.endEntity) }
        },
        .refused(Reasons.intermediateMalformed, "an intermediate that is no certificate") {
            $0.options.chain = { $0[1] = Array("intermediate".utf8) }
        },
        .refused(Reasons.intermediateMalformed, "an intermediate cut short") {
            $0.options.chain = { $0[1].removeLast() }
        },
    ]

    private static let path: [Self] = [
        .refused(Reasons.leafIsAuthority, "leaf and intermediate swapped") { $0.options.chain = { $0.reverse() } },
        .refused(Reasons.intermediateNotAuthority, "the leaf twice") { $0.options.chain = { $0[1] = $0[0] } },
        .refused(Reasons.leafNotByIntermediate, "the root in the place of the intermediate") {
            let root = $0.authority.rootCertificateDER
            $0.options.chain = { $0[1] = root }
        },
        .refused(Reasons.leafNotByIntermediate, "a self-signed leaf") {
            let key = try $0.key()
            $0.options.leaf = {
                $0.issuer = $0.subject
                $0.signer = key
            }
        },
        .refused(Reasons.leafSignatureInvalid, "a self-signed leaf that names the intermediate") {
            let key = try $0.key()
            $0.options.leaf = { $0.signer = key }
        },
        .refused(Reasons.leafNotByIntermediate, "a leaf that names the root as its issuer") {
            let root = $0.authority.root
            $0.options.leaf = {
                $0.issuer = root.name
                $0.signer = root.key
            }
        },
        .refused(Reasons.leafSignatureInvalid, "a leaf signed by another intermediate of the same name") {
            let impostor = try Simulation.impostor().intermediate.key
            $0.options.leaf = { $0.signer = impostor }
        },
        .refused(Reasons.leafSignatureInvalid, "a leaf's signature with a flipped bit") {
            $0.options.chain = { $0[0] = $0[0].flipping(-1) }
        },
        .refused(Reasons.leafSignatureInvalid, "a leaf changed after it was signed") {
            $0.options.chain = {
                $0[0] = $0[0].replacingFirst(Array("AAA Cert".utf8), with: Array("AAB Cert".utf8))
            }
        },
        .refused(Reasons.intermediateNotByRoot, "another hierarchy with the same names") {
            $0.authority = try Simulation.impostor()
        },
        .refused(Reasons.intermediateNotByRoot, "an intermediate's signature with a flipped bit") {
            $0.options.chain = { $0[1] = $0[1].flipping(-1) }
        },
        .refused(Reasons.intermediateNotByRoot, "an intermediate that signed itself in the root's name") {
            let own = $0.authority.intermediate.key
            $0.authority.intermediate = try $0.authority.intermediate.reissued { $0.signer = own }
        },
        .refused(Reasons.chainUntrusted, "an intermediate under another root") {
            let other = NameTemplate(commonName: "Another Root", organization: "Assay Simulation")
            $0.authority.intermediate = try $0.authority.intermediate.reissued { $0.issuer = other }
        },
        .refused(Reasons.chainUntrusted, "only the root of receipts is trusted") { $0.roots = $0.receiptRoots },
        .refused(Reasons.chainUntrusted, "no root is trusted") { $0.roots = [] },
        .accepted("another root of the same name is trusted as well") {
            $0.roots.insert(try Simulation.impostor().rootCertificateDER, at: 0)
        },
        .refused(Reasons.intermediateNotAuthority, "an intermediate without the CA bit") {
            $0.authority.intermediate = try $0.authority.intermediate.reissued { $0.replaceExtension(.endEntity) }
        },
        .refused(Reasons.intermediateNotAuthority, "an intermediate without basic constraints") {
            $0.authority.intermediate = try $0.authority.intermediate.reissued {
                $0.removeExtension(ObjectIdentifiers.basicConstraints)
            }
        },
        .refused(Reasons.intermediateNotAuthority, "an intermediate that may not sign certificates") {
            $0.authority.intermediate = try $0.authority.intermediate.reissued {
                $0.replaceExtension(.keyUsage(0x80, unusedBits: 7))
            }
        },
        .accepted("an intermediate without a path length") {
            $0.authority.intermediate = try $0.authority.intermediate.reissued { $0.replaceExtension(.authority()) }
        },
        .refused(Reasons.criticalExtensionUnknown, "an unknown critical extension in the leaf") {
            $0.options.leaf = { $0.extensions.append(.unknown(isCritical: true)) }
        },
        .accepted("an unknown extension in the leaf that is not critical") {
            $0.options.leaf = { $0.extensions.append(.unknown(isCritical: false)) }
        },
        .refused(Reasons.criticalExtensionUnknown, "an unknown critical extension in the intermediate") {
            $0.authority.intermediate = try $0.authority.intermediate.reissued {
                $0.extensions.append(.unknown(isCritical: true))
            }
        },
        .refused(Reasons.leafIsAuthority, "the CA bit in the leaf") {
            $0.options.leaf = { $0.replaceExtension(.authority()) }
        },
        .refused(Reasons.leafIsAuthority, "a leaf that may sign certificates") {
            $0.options.leaf = { $0.replaceExtension(.keyUsage(0x04, unusedBits: 2)) }
        },
    ]

    /// Receipts have times of their own, and are left aside here.
    private static let validity: [Self] = [
        .accepted("the first moment of the leaf") { $0.judge(at: $0.made - .seconds(86_400)) },
        .refused(Reasons.leafNotYetValid, "a millisecond before the leaf") {
            $0.judge(at: $0.made - .seconds(86_400) - .milliseconds(1))
        },
        .accepted("the last moment of the leaf") { $0.judge(at: $0.made + .seconds(2 * 86_400)) },
        .refused(Reasons.leafExpired, "a millisecond after the leaf") {
            $0.judge(at: $0.made + .seconds(2 * 86_400) + .milliseconds(1))
        },
        .accepted("a leaf that is good for a year, after eleven months") {
            $0.options.leaf = { $0.notAfter = $0.notBefore + .seconds(365 * 86_400) }
            $0.judge(at: $0.made + .seconds(330 * 86_400))
        },
        .accepted("a leaf that is good for a day") {
            $0.options.leaf = {
                $0.notBefore = Simulation.now
                $0.notAfter = Simulation.now + .seconds(86_400)
            }
        },
        .refused(Reasons.leafExpired, "a leaf that ends before it begins") {
            $0.options.leaf = { $0.notAfter = $0.notBefore - .seconds(1) }
        },
        .refused(Reasons.intermediateExpired, "an expired intermediate") {
            $0.authority.intermediate = try $0.authority.intermediate.reissued {
                $0.notAfter = Simulation.now - .seconds(1)
            }
        },
        .refused(Reasons.intermediateNotYetValid, "an intermediate from the future") {
            $0.authority.intermediate = try $0.authority.intermediate.reissued {
                $0.notBefore = Simulation.now + .seconds(1)
            }
        },
        .refused(Reasons.rootNotValid, "an expired root") {
            $0.roots = [try $0.authority.root.reissued { $0.notAfter = Simulation.now - .seconds(1) }.certificateDER]
        },
        .refused(Reasons.rootNotValid, "a root from the future") {
            $0.roots = [try $0.authority.root.reissued { $0.notBefore = Simulation.now + .seconds(1) }.certificateDER]
        },
    ]

    private static let leafKey: [Self] = [
        .refused(Reasons.keyIdentifierMismatch, "another key identifier than the client's") {
            $0.expectedKeyID = [UInt8](repeating: 1, count: 32)
        },
        .refused(Reasons.keyIdentifierMismatch, "a key identifier of no bytes") { $0.expectedKeyID = [] },
        .refused(Reasons.keyIdentifierMismatch, "a key identifier cut short") {
            $0.expectedKeyID = Array(try $0.key().identifier.prefix(31))
        },
        .refused(Reasons.keyIdentifierMismatch, "a leaf for another key") {
            let other = try SimulatedKey(.p256, random: .seeded(99))
            $0.options.leaf = { $0.publicKey = SubjectPublicKey(other) }
        },
        .refused(Reasons.leafCurveUnsupported, "a leaf on P-384") {
            let other = try SimulatedKey(.p384, random: .seeded(99))
            $0.options.leaf = { $0.publicKey = SubjectPublicKey(other) }
        },
        .refused(Reasons.leafCurveUnsupported, "a leaf on secp256k1") {
            $0.options.leaf = { $0.publicKey.curve = [1, 3, 132, 0, 10] }
        },
        .refused(Reasons.leafPointInvalid, "a compressed point") {
            $0.options.leaf = { $0.publicKey.point = [0x02] + $0.publicKey.point[1...32] }
        },
        .refused(Reasons.leafPointInvalid, "the point at infinity") { $0.options.leaf = { $0.publicKey.point = [0] } },
        .refused(Reasons.leafPointInvalid, "a point with a byte behind it") {
            $0.options.leaf = { $0.publicKey.point.append(0) }
        },
        .refused(Reasons.leafPointInvalid, "a point that is not on the curve, in leaf, credential and key identifier") {
            let key = try $0.key()
            let point = key.point.flipping(-1)
            let identifier = SHA256.hash(point)
            $0.expectedKeyID = identifier
            $0.options.authenticatorData = {
                $0.credential?.identifier = identifier
                $0.credential?.publicKey =
                    SimulatedCOSEKey(curve: 1, algorithm: 6, x: key.x, y: key.y.flipping(-1)).encoded
            }
            $0.options.leaf = { $0.publicKey.point = point }
        },
    ]

    private static let purposes: [Self] = [
        .accepted("no extended key usage, as before 2026") {
            $0.options.leaf = { $0.removeExtension(ObjectIdentifiers.extendedKeyUsage) }
        },
        .refused(Reasons.extendedKeyUsageUnexpected, "a leaf for TLS servers") {
            $0.options.leaf = { $0.replaceExtension(.extendedKeyUsage([[1, 3, 6, 1, 5, 5, 7, 3, 1]])) }
        },
        .refused(Reasons.extendedKeyUsageUnexpected, "a leaf for App Attest and something else") {
            $0.options.leaf = {
                $0.replaceExtension(
                    .extendedKeyUsage([ObjectIdentifiers.appAttestPurpose, [1, 3, 6, 1, 5, 5, 7, 3, 2]]))
            }
        },
        .refused(Reasons.extendedKeyUsageUnexpected, "a leaf for no purpose") {
            $0.options.leaf = { $0.replaceExtension(.extendedKeyUsage([])) }
        },
        .refused(Reasons.nonceExtensionMissing, "no nonce") {
            $0.options.leaf = { $0.removeExtension(ObjectIdentifiers.appAttestNonce) }
        },
        .refused(Reasons.nonceExtensionDuplicated, "two nonces") {
            $0.options.leaf = { $0.extensions.append(.appAttestNonce([UInt8](repeating: 0, count: 32))) }
        },
        .refused(Reasons.nonceExtensionMalformed, "a nonce of 31 bytes") { $0.options.nonce = { $0.removeLast() } },
        .refused(Reasons.nonceExtensionMalformed, "a nonce of 33 bytes") { $0.options.nonce = { $0.append(0) } },
        .refused(Reasons.nonceExtensionMalformed, "a nonce without its context tag") {
            $0.options.leaf = {
                $0.replaceExtension(
                    ExtensionTemplate(
                        type: ObjectIdentifiers.appAttestNonce,
                        value: DERWriter.sequence(DERWriter.octetString([UInt8](repeating: 0, count: 34)))))
            }
        },
        .refused(Reasons.nonceExtensionMalformed, "an empty nonce extension") {
            $0.options.leaf = {
                $0.replaceExtension(ExtensionTemplate(type: ObjectIdentifiers.appAttestNonce, value: []))
            }
        },
        .refused(Reasons.nonceMismatch, "another nonce") { $0.options.nonce = { $0 = $0.flipping(0) } },
        .refused(Reasons.nonceMismatch, "another challenge") {
            $0.expectedClientDataHash = SHA256.hash(Array("another challenge".utf8))
        },
        .refused(Reasons.nonceMismatch, "no challenge") { $0.expectedClientDataHash = [] },
        .refused(Reasons.nonceMismatch, "a byte of authenticator data changed after the nonce was made") {
            $0.options.object = {
                $0.changeBytes("authData") { $0.flipping(32) }
            }
        },
        .accepted("a raw challenge of 24 bytes in the place of a hash") {
            $0.clientDataHash = Array("example_server_challenge".utf8)
            $0.expectedClientDataHash = $0.clientDataHash
        },
        .accepted("client data of no bytes, where that is expected") {
            $0.clientDataHash = []
            $0.expectedClientDataHash = []
        },
    ]

    private static let system: [Self] = [
        .accepted("a leaf that does not name the operating system") {
            $0.options.leaf = { $0.removeExtension(ObjectIdentifiers.appAttestSystem) }
        },
        .accepted("a leaf with an empty description of the operating system") {
            $0.options.leaf = {
                $0.replaceExtension(
                    ExtensionTemplate(type: ObjectIdentifiers.appAttestSystem, value: DERWriter.sequence()))
            }
        },
        .refused(Reasons.systemExtensionMalformed, "a description of the operating system that is no sequence") {
            $0.options.leaf = {
                $0.replaceExtension(
                    ExtensionTemplate(type: ObjectIdentifiers.appAttestSystem, value: DERWriter.null))
            }
        },
        .accepted("an iPhone with a Mac's key policy, which says nothing there") {
            $0.system.keyPolicy = SimulatedSystem.macPolicy
        },
        .accepted("an iPhone without a key policy") {
            $0.options.leaf = { $0.removeExtension(ObjectIdentifiers.appAttestKeyPolicy) }
        },
        .refused(Reasons.macPolicyMismatch, "a Mac with an iPhone's key policy") {
            $0.system = .macOS27
            $0.system.keyPolicy = SimulatedSystem.iPhonePolicy
        },
        .refused(Reasons.macPolicyMismatch, "a Mac without a key policy") {
            $0.system = .macOS27
            $0.options.leaf = { $0.removeExtension(ObjectIdentifiers.appAttestKeyPolicy) }
        },
        .refused(Reasons.macPolicyMismatch, "a Mac with a byte behind its key policy") {
            $0.system = .macOS27
            $0.system.keyPolicy.append(0)
        },
    ]
}

extension AttestationScene {
    /// Judges at another time, the receipt aside.
    fileprivate mutating func judge(at instant: Instant) {
        judged = instant
        checksReceipt = false
    }
}

extension ExtensionTemplate {
    /// An extension of a type that nobody has defined, under the arc for examples (RFC 5612 reserves the number).
    static func unknown(isCritical: Bool) -> Self {
        Self(type: [1, 3, 6, 1, 4, 1, 32473, 1], isCritical: isCritical, value: DERWriter.null)
    }
}
