public import AssayCore
public import AssayCrypto

/// Verifies Apple's receipts: signature, certificates up to a pinned root, fields (Apple, Assessing Fraud Risk).
public struct ReceiptVerifier: Sendable {
    private let anchors: [TrustAnchor]
    private let paths: CertificatePathVerifier
    private let clockSkew: Duration

    /// A verifier of receipts under any of the anchors, which is Apple Root CA - G3 but in tests.
    ///
    /// - `clockSkew`: How far a receipt may be in the future.
    public init(anchors: [TrustAnchor], clockSkew: Duration = .seconds(60)) {
        self.anchors = anchors
        self.clockSkew = clockSkew
        paths = CertificatePathVerifier(anchors: anchors, cache: VerifiedIntermediateCache())
    }

    /// A verifier of receipts that Apple signed.
    public init() throws(CertificateError) {
        self.init(anchors: [try AppleRoots.receiptAnchor()])
    }

    /// Verifies a receipt at a point in time.
    public func verify(
        _ receipt: [UInt8], expecting expectation: ReceiptExpectation, at instant: Instant
    ) -> ReceiptOutcome {
        var trace = AppAttestTrace.none
        return verify(receipt, expecting: expectation, at: instant, explaining: &trace)
    }

    /// Verifies a receipt at a point in time, and tells each check.
    public func verify(
        _ receipt: [UInt8], expecting expectation: ReceiptExpectation, at instant: Instant,
        explaining trace: inout AppAttestTrace
    ) -> ReceiptOutcome {
        trace.plan(Self.checks(of: expectation))
        return judged(receipt, expectation, at: instant, &trace)
    }

    /// Verifies a receipt whose checks are planned already; a missing one is as wrong as any other.
    func judged(
        _ receipt: [UInt8]?, _ expectation: ReceiptExpectation, at instant: Instant, _ trace: inout AppAttestTrace
    ) -> ReceiptOutcome {
        do throws(AppAttestRefusal) {
            let message = try trace.check(
                .receiptForm, expected: "CMS with one signer and its certificates",
                found: { "\($0.certificates.count) certificates" },
                { () throws(AppAttestRefusal) in try Self.message(receipt) })
            let content = try trace.check(
                .receiptFields, expected: "the fields that Apple documents, each once",
                found: { "\($0.kind.rawValue), made \($0.created), expires \($0.expires)" },
                { () throws(AppAttestRefusal) in try Receipt(content: message.content[...]) })
            try judge(content, expectation, at: instant, &trace)
            let signer = try trace.check(
                .receiptSigner,
                expected: "certificates of a signer of receipts under a trusted root, valid at \(content.created)",
                found: { _ in "such certificates" },
                { () throws(AppAttestRefusal) in try signerKey(of: message, at: content.created) })
            if message.isSigned(by: signer) {
                try trace.check(
                    .receiptSignature, true, AppAttestReasons.receiptSignatureInvalid, expected: Self.signatureExpected,
                    found: "such a signature")
                return .verified(content)
            }
            try trace.check(
                .receiptSignature, LegacyReceipt.isSigned(message, created: content.created, by: signer),
                AppAttestReasons.receiptSignatureInvalid, expected: Self.signatureExpected,
                found:
                    "a signature over other data, or one over the content alone as Apple made them up to October 2020"
            )
            return .legacy2020(content)
        } catch {
            return .refused(error)
        }
    }

    private static let signatureExpected = "a signature of the signer over content and attributes"

    /// The checks of the receipt in an attestation, in their order.
    static func attestationChecks(_ maximumAge: Duration?) -> [AppAttestCheck] {
        [.receiptForm, .receiptFields, .receiptAppID, .receiptEnvironment, .receiptType, .receiptKey]
            + [.receiptClientDataHash, .receiptLeafValidity, .receiptNotFuture]
            + (maximumAge == nil ? [] : [.receiptAge])
            + [.receiptExpiry, .receiptSigner, .receiptSignature]
    }

    private static func checks(of expectation: ReceiptExpectation) -> [AppAttestCheck] {
        var checks = attestationChecks(expectation.maximumAge)
        guard expectation.attestation == nil else { return checks }
        checks.removeAll { [.receiptType, .receiptClientDataHash, .receiptLeafValidity].contains($0) }
        if expectation.environment == nil { checks.removeAll { $0 == .receiptEnvironment } }
        if expectation.publicKey == nil { checks.removeAll { $0 == .receiptKey } }
        return checks
    }

    private static func message(_ bytes: [UInt8]?) throws(AppAttestRefusal) -> SignedData {
        guard let bytes else { throw AppAttestRefusal(AppAttestReasons.receiptMissing) }
        do {
            return try SignedData(bytes[...])
        } catch {
            let reason =
                switch error.code {
                case .signerCount: AppAttestReasons.receiptSignerCount
                case .algorithmUnsupported: AppAttestReasons.receiptAlgorithmUnsupported
                case .attributesMalformed: AppAttestReasons.receiptAttributesMalformed
                case .malformed, .tooLarge, .kindUnsupported: AppAttestReasons.receiptMalformed
                @unknown default: AppAttestReasons.receiptMalformed
                }
            throw AppAttestRefusal(reason, error.description)
        }
    }

    // MARK: Agreement

    private func judge(
        _ receipt: Receipt, _ expectation: ReceiptExpectation, at instant: Instant, _ trace: inout AppAttestTrace
    ) throws(AppAttestRefusal) {
        try trace.check(
            .receiptAppID, receipt.appID.isExactly(expectation.appID.text), AppAttestReasons.receiptAppIDMismatch,
            expected: expectation.appID.text, found: receipt.appID)
        if let environment = expectation.environment {
            try trace.check(
                .receiptEnvironment, receipt.environment == environment, AppAttestReasons.receiptEnvironmentMismatch,
                expected: environment.rawValue, found: receipt.environment?.rawValue ?? "none")
        }
        if let publicKey = expectation.publicKey {
            let certificate = try? Certificate(der: receipt.certificate[...], accepting: .ecdsa)
            try trace.check(
                .receiptKey, certificate?.key.bytes.elementsEqual(publicKey) ?? false,
                AppAttestReasons.receiptKeyMismatch,
                expected: "the key \(Base64.encode(SHA256.hash(publicKey)))",
                found: Self.keyIdentifier(of: receipt.certificate[...]))
        }
        if let attestation = expectation.attestation { try judge(receipt, attestation, &trace) }
        try trace.check(
            .receiptNotFuture, receipt.created <= instant + clockSkew, AppAttestReasons.receiptFromFuture,
            expected: "made up to \(instant), the time of judgement, or \(clockSkew) later", found: "\(receipt.created)"
        )
        if let maximumAge = expectation.maximumAge {
            try trace.check(
                .receiptAge, receipt.created >= instant - maximumAge, AppAttestReasons.receiptTooOld,
                expected: "made at most \(maximumAge) before \(instant), the time of judgement",
                found: "\(receipt.created)")
        }
        try trace.check(
            .receiptExpiry, instant <= receipt.expires, AppAttestReasons.receiptExpired,
            expected: "an end not before \(instant), the time of judgement", found: "\(receipt.expires)")
    }

    private func judge(
        _ receipt: Receipt, _ attestation: ReceiptExpectation.Attestation, _ trace: inout AppAttestTrace
    ) throws(AppAttestRefusal) {
        try trace.check(
            .receiptType, receipt.kind == .attestation, AppAttestReasons.receiptTypeUnexpected,
            expected: Receipt.Kind.attestation.rawValue, found: receipt.kind.rawValue)
        try trace.check(
            .receiptKey, receipt.certificate.elementsEqual(attestation.leaf), AppAttestReasons.receiptKeyMismatch,
            expected: "the leaf itself: \(Self.certificate(attestation.leaf))",
            found: Self.certificate(receipt.certificate[...]))
        try trace.check(
            .receiptClientDataHash, receipt.clientHash == attestation.clientDataHash,
            AppAttestReasons.receiptClientDataHashMismatch, expected: Hex.encode(attestation.clientDataHash),
            found: Hex.encode(receipt.clientHash))
        try trace.check(
            .receiptLeafValidity,
            receipt.created >= attestation.leafNotBefore && receipt.created <= attestation.leafNotAfter,
            AppAttestReasons.receiptOutsideLeafValidity,
            expected: "from \(attestation.leafNotBefore) to \(attestation.leafNotAfter)", found: "\(receipt.created)")
    }

    /// A certificate as a message names it: by its digest, and its key's identifier.
    private static func certificate(_ der: ArraySlice<UInt8>) -> String {
        "certificate \(Hex.encode(SHA256.hash(der))) of \(keyIdentifier(of: der))"
    }

    private static func keyIdentifier(of der: ArraySlice<UInt8>) -> String {
        guard let certificate = try? Certificate(der: der, accepting: .ecdsa) else {
            return "no key, because it is not a certificate"
        }
        return "the key \(Base64.encode(SHA256.hash(certificate.key.bytes)))"
    }

    // MARK: Signer

    /// The key of the signer, whose certificates must have been valid when the receipt was made.
    private func signerKey(of message: SignedData, at created: Instant) throws(AppAttestRefusal) -> ECPublicKey {
        guard message.certificates.count == 3 else {
            throw AppAttestRefusal(AppAttestReasons.receiptCertificateCount)
        }
        let others = message.certificates.filter { der in
            !anchors.contains { $0.certificate.encoded == der }
        }
        guard others.count == 2 else { throw AppAttestRefusal(AppAttestReasons.receiptRootUnknown) }
        do {
            var signer = try Certificate(der: others[0], accepting: .ecdsa)
            var intermediate = try Certificate(der: others[1], accepting: .ecdsa)
            if !message.signer.names(signer) { swap(&signer, &intermediate) }
            guard message.signer.names(signer) else { throw AppAttestRefusal(AppAttestReasons.receiptSignerUnknown) }
            guard signer.value(of: .receiptSigner)?.elementsEqual([0x05, 0x00]) ?? false,
                signer.keyUsage?.contains(.digitalSignature) ?? true
            else { throw AppAttestRefusal(AppAttestReasons.receiptSignerUnfit) }
            try paths.verify([signer, intermediate], at: created)
            guard case .ec(let key) = try signer.key.publicKey() else {
                throw AppAttestRefusal(AppAttestReasons.receiptCertificateMalformed)
            }
            return key
        } catch let refusal as AppAttestRefusal {
            throw refusal
        } catch let error as CertificatePathError {
            throw AppAttestRefusal(AppAttestReasons.receiptChainInvalid, error.description)
        } catch {
            throw AppAttestRefusal(AppAttestReasons.receiptCertificateMalformed, "\(error)")
        }
    }
}

/// Receipts of App Attest's first weeks: they have signed attributes, and Apple signed the content instead of them.
///
/// A signature over the content is then the only proof. It is accepted only for a receipt whose content states that it
/// is that old; and each attribute, which is not signed, must have its only possible value. (The time of signing can
/// have two, when the receipt was made at the very end of a second; it is not used.)
enum LegacyReceipt {
    /// Receipts made from this day on are never of this kind; the last one seen is of 2020-10-03, the first good one
    /// of 2020-10-22.
    static let end = Instant(seconds: 1_602_720_000)  // 2020-10-15T00:00:00Z

    /// How much later than the receipt the signature may have been made; 58 ms were seen.
    private static let delay: Duration = .milliseconds(100)

    /// Whether a message is a receipt of this kind, signed by this key.
    static func isSigned(_ message: SignedData, created: Instant, by key: ECPublicKey) -> Bool {
        guard created < end, let attributes = message.signer.attributes, let signingTime = attributes.signingTime,
            (created.seconds...(created + delay).seconds).contains(signingTime.seconds),
            attributes.messageDigest.elementsEqual(SHA256.hash(message.content))
        else { return false }
        return message.isContentSigned(by: key)
    }
}
