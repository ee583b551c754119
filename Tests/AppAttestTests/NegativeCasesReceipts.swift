import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting

/// Attestations that are good but for their receipt.
extension NegativeCase<AttestationScene> {
    static let receipts: [Self] = messages + signers + signatures + fields + agreement + times

    private static let messages: [Self] = [
        .accepted("definite lengths and the content in one piece") { $0.options.receipt = { $0.encoding = .definite } },
        .refused(Reasons.receiptMalformed, "an empty receipt") { $0.options.receiptBytes = { $0 = [] } },
        .refused(Reasons.receiptMalformed, "a receipt that is no message") {
            $0.options.receiptBytes = { $0 = Array("receipt".utf8) }
        },
        .refused(Reasons.receiptMalformed, "a receipt cut short") { $0.options.receiptBytes = { $0.removeLast() } },
        .refused(Reasons.receiptMalformed, "a byte behind the receipt") { $0.options.receiptBytes = { $0.append(0) } },
        .refused(Reasons.receiptMalformed, "one end-of-contents too few") {
            $0.options.receiptBytes = { $0.removeLast(2) }
        },
        .refused(Reasons.receiptMalformed, "content in pieces of 999 bytes") {
            $0.options.receipt = { $0.chunkSize = 999 }
        },
        .refused(Reasons.receiptMalformed, "content in pieces of one byte") {
            $0.options.receipt = { $0.chunkSize = 1 }
        },
        .refused(Reasons.receiptMalformed, "a primitive of indefinite length") {
            $0.options.receiptBytes = { $0 = $0.replacingFirst([0x24, 0x80], with: [0x04, 0x80]) }
        },
        .refused(Reasons.receiptMalformed, "an overstated length") {
            $0.options.receiptBytes = {
                $0 = $0.replacingFirst([0x04, 0x82, 0x03, 0xE8], with: [0x04, 0x84, 0x7F, 0xFF, 0xFF, 0xFF])
            }
        },
        .refused(Reasons.receiptMalformed, "another type of content") {
            $0.options.receiptBytes = {
                let data = DERWriter.objectIdentifier(ObjectIdentifiers.data)
                $0 = $0.replacingFirst(data, with: data.flipping(-1))
            }
        },
        .refused(Reasons.receiptMalformed, "content that is no set of fields") {
            $0.options.receipt = { $0.content = Array("fields".utf8) }
        },
        .refused(Reasons.receiptMalformed, "no content") { $0.options.receipt = { $0.content = [] } },
        .refused(Reasons.receiptMalformed, "a field of another version") {
            $0.options.receipt = { $0.fields[0].version = 2 }
        },
        .refused(Reasons.receiptMalformed, "two thousand nested values") {
            $0.options.receiptBytes = { $0 = [UInt8](repeating: 0x30, count: 2_000).flatMap { [$0, 0x80] } }
        },
        .refused(Reasons.receiptAlgorithmUnsupported, "SHA-384") {
            $0.options.receipt = { $0.signatures[0].digest = .sha384 }
        },
    ]

    private static let signers: [Self] = [
        .refused(Reasons.receiptSignerCount, "no signer") { $0.options.receipt = { $0.signatures = [] } },
        .refused(Reasons.receiptSignerCount, "two signers") {
            $0.options.receipt = { $0.signatures += $0.signatures }
        },
        .refused(Reasons.receiptCertificateCount, "no root in the message") {
            $0.options.receipt = { $0.certificates.removeLast() }
        },
        .refused(Reasons.receiptCertificateCount, "one certificate more") {
            $0.options.receipt = { $0.certificates.append($0.certificates[0]) }
        },
        .accepted("certificates in another order") { $0.options.receipt = { $0.certificates.reverse() } },
        .refused(Reasons.receiptRootUnknown, "signed by another authority") {
            let impostor = try Simulation.impostor()
            $0.options.receipt = { $0 = ReceiptTemplate(fields: $0.fields, signedBy: impostor) }
        },
        .refused(Reasons.receiptRootUnknown, "only the root of attestations is trusted for receipts") {
            $0.receiptRoots = $0.roots
        },
        .refused(Reasons.receiptSignerUnknown, "another serial number than the certificate's") {
            $0.options.receipt = { $0.signatures[0].serialNumber = [1] }
        },
        .refused(Reasons.receiptSignerUnknown, "another issuer than the certificate's") {
            let name = $0.authority.root.name
            $0.options.receipt = { $0.signatures[0].issuer = name }
        },
        .refused(Reasons.receiptSignerUnfit, "a signer without the mark of App Attest receipts") {
            $0.authority.receiptSigner = try $0.authority.receiptSigner.reissued {
                $0.removeExtension(ObjectIdentifiers.receiptSigner)
            }
        },
        .refused(Reasons.receiptSignerUnfit, "a signer that may not sign") {
            $0.authority.receiptSigner = try $0.authority.receiptSigner.reissued {
                $0.replaceExtension(.keyUsage(0x20, unusedBits: 5))
            }
        },
        .refused(Reasons.receiptSignerUnfit, "signed by the integration authority itself") {
            let authority = $0.authority
            $0.options.receipt = { $0.signatures = [ReceiptSignature(authority.receiptAuthority)] }
        },
        .refused(Reasons.receiptChainInvalid, "a signer certified by the App Attest intermediate") {
            let wrong = $0.authority.intermediate
            $0.authority.receiptSigner = try $0.authority.receiptSigner.reissued {
                $0.issuer = wrong.name
                $0.signer = wrong.key
            }
            $0.authority.receiptAuthority = wrong
        },
        .refused(Reasons.receiptChainInvalid, "a signer certified by another authority of the same name") {
            let impostor = try Simulation.impostor().receiptAuthority.key
            $0.authority.receiptSigner = try $0.authority.receiptSigner.reissued { $0.signer = impostor }
        },
        .refused(Reasons.receiptChainInvalid, "an integration authority of the same name under another root") {
            let impostor = try Simulation.impostor()
            $0.authority.receiptAuthority = impostor.receiptAuthority
            $0.authority.receiptSigner = impostor.receiptSigner
        },
        .refused(Reasons.receiptChainInvalid, "an expired signer") {
            $0.authority.receiptSigner = try $0.authority.receiptSigner.reissued {
                $0.notAfter = Simulation.now - .seconds(1)
            }
        },
        .refused(Reasons.receiptChainInvalid, "a signer's certificate with a damaged signature") {
            $0.options.receipt = { $0.certificates[0] = $0.certificates[0].flipping(-1) }
        },
        .refused(Reasons.receiptCertificateMalformed, "a signer's certificate with a damaged length") {
            $0.options.receipt = {
                $0.certificates[0] = $0.certificates[0].replacingFirst([0x30, 0x0C, 0x06], with: [0x30, 0x0D, 0x06])
            }
        },
    ]

    private static let signatures: [Self] = [
        .refused(Reasons.receiptSignatureInvalid, "signed by another key") {
            let impostor = try Simulation.impostor().receiptSigner.key
            $0.options.receipt = { $0.signatures[0].key = impostor }
        },
        .refused(Reasons.receiptSignatureInvalid, "no signature") {
            $0.options.receipt = { $0.signatures[0].signature = [] }
        },
        .refused(Reasons.receiptSignatureInvalid, "a signature of zeros") {
            $0.options.receipt = { $0.signatures[0].signature = [0x30, 6, 2, 1, 0, 2, 1, 0] }
        },
        .refused(Reasons.receiptSignatureInvalid, "a field changed after signing") {
            $0.options.receiptBytes = { $0 = $0.replacingFirst(Array("2027-".utf8), with: Array("2029-".utf8)) }
        },
        .accepted("signed attributes, signed as the standard has it") {
            $0.options.receipt = { $0.signatures[0].coverage = .signedAttributes }
        },
        .refused(Reasons.receiptSignatureInvalid, "content changed under signed attributes") {
            $0.options.receipt = { $0.signatures[0].coverage = .signedAttributes }
            $0.options.receiptBytes = { $0 = $0.replacingFirst(Array("2027-".utf8), with: Array("2029-".utf8)) }
        },
        .refused(Reasons.receiptSignatureInvalid, "the faulty signature of 2020 in 2026") {
            $0.acceptsLegacy = true
            $0.options.receipt = {
                $0.signatures[0].coverage = .contentDespiteAttributes
                $0.signatures[0].signingTime = Simulation.now
            }
        },
        .refused(Reasons.receiptAttributesMalformed, "signed attributes for another type of content") {
            $0.options.receipt = {
                $0.signatures[0].coverage = .signedAttributes
                $0.signatures[0].contentType = ObjectIdentifiers.signedData
            }
        },
        .refused(Reasons.receiptLegacyNotAllowed, "the faulty signature of 2020, in 2020") {
            try $0.moveTo2020()
        },
        .accepted("the faulty signature of 2020, in 2020, where it is allowed") {
            try $0.moveTo2020()
            $0.acceptsLegacy = true
        },
        .accepted("the faulty signature of 2020 in its last millisecond") {
            try $0.moveTo2020(Instant(seconds: 1_602_719_999))
            $0.acceptsLegacy = true
            let sign = $0.options.receipt
            $0.options.receipt = {
                sign(&$0)
                $0[.creationTime] = Array("2020-10-14T23:59:59.999Z".utf8)
            }
        },
        .refused(Reasons.receiptSignatureInvalid, "the faulty signature of 2020 at the end of its time") {
            try $0.moveTo2020(Instant(seconds: 1_602_720_000))
            $0.acceptsLegacy = true
        },
        .refused(Reasons.receiptSignatureInvalid, "the faulty signature of 2020 without a signing time") {
            try $0.moveTo2020()
            $0.acceptsLegacy = true
            $0.options.receipt = { $0.signatures[0].coverage = .contentDespiteAttributes }
        },
    ]

    private static let fields: [Self] =
        [.appID, .certificate, .clientDataHash, .receiptType, .creationTime, .expirationTime].map {
            (kind: ReceiptField.Kind) in
            .refused(Reasons.receiptFieldMissing, "no field \(kind.rawValue), \(kind)") {
                $0.options.receipt = { $0[kind] = nil }
            }
        } + [
            .accepted("no token") { $0.options.receipt = { $0[.token] = nil } },
            .refused(Reasons.receiptEnvironmentMismatch, "no environment") {
                $0.options.receipt = { $0[.environment] = nil }
            },
            .accepted("a field that is not known yet") {
                $0.options.receipt = { $0.fields.append(ReceiptField(type: 99, value: [1])) }
            },
            .accepted("fields in another order") { $0.options.receipt = { $0.fields.reverse() } },
            .refused(Reasons.receiptFieldDuplicated, "two App IDs") {
                $0.options.receipt = { $0.fields.append($0.fields[0]) }
            },
            .refused(Reasons.receiptFieldMalformed, "a NUL behind the App ID") {
                $0.options.receipt = { $0[.appID]?.append(0) }
            },
            .refused(Reasons.receiptFieldMalformed, "an environment that does not exist") {
                $0.options.receipt = { $0[.environment] = Array("staging".utf8) }
            },
            .refused(Reasons.receiptFieldMalformed, "a creation time without a zone") {
                $0.options.receipt = { $0[.creationTime] = Array("2026-11-21T10:00:00.000".utf8) }
            },
            .refused(Reasons.receiptFieldMalformed, "a creation time in words") {
                $0.options.receipt = { $0[.creationTime] = Array("yesterday at half past ten".utf8) }
            },
            .refused(Reasons.receiptFieldMalformed, "an end before the beginning") {
                $0.options.receipt = { $0[.expirationTime] = Array("2026-11-20T10:00:00.000Z".utf8) }
            },
            .refused(Reasons.receiptFieldMalformed, "a risk metric in an attestation's receipt") {
                $0.options.receipt = { $0[.riskMetric] = Array("1".utf8) }
            },
            .accepted("two digits of a fraction") {
                $0.options.receipt = { $0[.creationTime] = Array("2026-11-21T09:59:59.86Z".utf8) }
            },
        ]

    private static let agreement: [Self] = [
        .refused(Reasons.receiptTypeUnexpected, "a type that does not exist") {
            $0.options.receipt = { $0[.receiptType] = Array("REVOKE".utf8) }
        },
        .refused(Reasons.receiptTypeUnexpected, "an exchanged receipt in an attestation") {
            $0.options.receipt = {
                $0.fields = ReceiptField.refreshed($0.fields, riskMetric: "1", at: Simulation.now)
            }
        },
        .refused(Reasons.receiptAppIDMismatch, "another App ID") {
            $0.options.receipt = { $0[.appID] = Array("ABCDE12345.com.example.other".utf8) }
        },
        .refused(Reasons.receiptKeyMismatch, "another certificate") {
            $0.options.receipt = { $0[.certificate]?[0] = 0x31 }
        },
        .refused(Reasons.receiptKeyMismatch, "the receipt of another key") {
            var other = try AttestationScene()
            other.keySeed = 99
            let receipt = try other.receiptOfAttestation()
            $0.options.receiptBytes = { $0 = receipt }
        },
        .refused(Reasons.receiptKeyMismatch, "the receipt of another attestation of the same key") {
            var other = try AttestationScene()
            other.clientDataHash = SHA256.hash(Array("another challenge".utf8))
            let receipt = try other.receiptOfAttestation()
            $0.options.receiptBytes = { $0 = receipt }
        },
        .refused(Reasons.receiptClientDataHashMismatch, "another client data hash") {
            $0.options.receipt = { $0[.clientDataHash] = [UInt8](repeating: 0, count: 32) }
        },
        .refused(Reasons.receiptEnvironmentMismatch, "a production receipt in a development attestation") {
            $0.options.receipt = { $0[.environment] = Array("production".utf8) }
        },
        .refused(Reasons.receiptEnvironmentMismatch, "a development receipt in a production attestation") {
            $0.app.environment = .production
            $0.environments = [.production]
            $0.options.receipt = { $0[.environment] = Array("sandbox".utf8) }
        },
    ]

    private static let times: [Self] = [
        .accepted("five minutes after the receipt") { $0.judged = $0.made + .seconds(300) },
        .refused(Reasons.receiptTooOld, "a millisecond more than five minutes after the receipt") {
            $0.judged = $0.made + .seconds(300) + .milliseconds(1)
        },
        .accepted("a minute before the receipt, for clocks differ") { $0.judged = $0.made - .seconds(60) },
        .refused(Reasons.receiptFromFuture, "more than a minute before the receipt") {
            $0.judged = $0.made - .seconds(60) - .milliseconds(1)
        },
        .refused(Reasons.receiptExpired, "a receipt that expired at once") {
            $0.judged = $0.made + .seconds(1)
            $0.options.receipt = { $0[.expirationTime] = $0[.creationTime] }
        },
        .refused(Reasons.receiptOutsideLeafValidity, "a receipt from before its leaf") {
            $0.maximumAge = nil
            $0.options.receipt = { $0[.creationTime] = Array("2026-11-20T09:59:59.999Z".utf8) }
        },
        .accepted("a receipt from the first instant of its leaf") {
            $0.maximumAge = nil
            $0.options.receipt = { $0[.creationTime] = Array("2026-11-20T10:00:00.000Z".utf8) }
        },
        .accepted("a receipt from the last instant of its leaf") {
            $0.options.leaf = { $0.notAfter = Simulation.now + .seconds(10) }
            $0.options.receipt = { $0[.creationTime] = Array("2026-11-21T10:00:10.000Z".utf8) }
        },
        .refused(Reasons.receiptOutsideLeafValidity, "a receipt from after its leaf") {
            $0.options.leaf = { $0.notAfter = Simulation.now + .seconds(10) }
            $0.options.receipt = { $0[.creationTime] = Array("2026-11-21T10:00:10.001Z".utf8) }
        },
    ]
}

extension AttestationScene {
    /// A device, an authority and a verifier of September 2020, with that time's receipts.
    fileprivate mutating func moveTo2020(_ then: Instant = Instant(seconds: 1_600_000_000)) throws {
        authority = try SimulatedAppleCA(at: then, random: .seeded(3))
        roots = [authority.rootCertificateDER]
        receiptRoots = [authority.receiptRootCertificateDER]
        system = .iOS26
        made = then
        judged = then
        options.receipt = {
            $0.signatures[0].coverage = .contentDespiteAttributes
            $0.signatures[0].signingTime = then
        }
    }

    /// The receipt in the attestation that the scene makes.
    fileprivate func receiptOfAttestation() throws -> [UInt8] {
        let box = ByteBox()
        var copy = self
        copy.options.receiptBytes = { box.bytes = $0 }
        _ = try copy.attestation()
        return box.bytes
    }
}
