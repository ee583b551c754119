public import AssayCrypto
public import AssayKit

/// Verifies Apple's receipts: signature, certificates up to a pinned root, fields (Apple, Assessing Fraud Risk).
public struct ReceiptVerifier: Sendable {
    private let anchors: [TrustAnchor]
    private let paths: CertificatePathVerifier
    private let clockSkew: Duration

    /// A verifier of receipts under any of the anchors, which is Apple Root CA - G3 but in tests.
    ///
    /// - Parameter clockSkew: How far a receipt may lie in the future.
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
        do throws(AppAttestRefusal) {
            let message = try Self.message(receipt[...])
            let content = try Receipt(content: message.content[...])
            try judge(content, expectation, at: instant)
            let signer = try signerKey(of: message, at: content.created)
            if message.isSigned(by: signer) { return .verified(content) }
            guard LegacyReceipt.isSigned(message, created: content.created, by: signer) else {
                throw AppAttestRefusal(AppAttestReasons.receiptSignatureInvalid)
            }
            return .legacy2020(content)
        } catch {
            return .refused(error)
        }
    }

    private static func message(_ bytes: ArraySlice<UInt8>) throws(AppAttestRefusal) -> SignedData {
        do {
            return try SignedData(bytes)
        } catch {
            let reason =
                switch error.code {
                case .signerCount: AppAttestReasons.receiptSignerCount
                case .algorithmUnsupported: AppAttestReasons.receiptAlgorithmUnsupported
                case .attributesMalformed: AppAttestReasons.receiptAttributesMalformed
                case .malformed, .tooLarge, .kindUnsupported: AppAttestReasons.receiptMalformed
                }
            throw AppAttestRefusal(reason, error.description)
        }
    }

    // MARK: Agreement

    private func judge(
        _ receipt: Receipt, _ expectation: ReceiptExpectation, at instant: Instant
    ) throws(AppAttestRefusal) {
        guard receipt.appID.isExactly(expectation.appID.text) else {
            throw AppAttestRefusal(AppAttestReasons.receiptAppIDMismatch)
        }
        if let environment = expectation.environment {
            guard receipt.environment == environment else {
                throw AppAttestRefusal(AppAttestReasons.receiptEnvironmentMismatch)
            }
        }
        if let publicKey = expectation.publicKey {
            let certificate = try? Certificate(der: receipt.certificate[...])
            guard let certificate, certificate.key.point.elementsEqual(publicKey) else {
                throw AppAttestRefusal(AppAttestReasons.receiptKeyMismatch)
            }
        }
        if let attestation = expectation.attestation { try judge(receipt, attestation) }
        guard receipt.created <= instant + clockSkew else {
            throw AppAttestRefusal(AppAttestReasons.receiptFromFuture)
        }
        if let maximumAge = expectation.maximumAge {
            guard receipt.created >= instant - maximumAge else {
                throw AppAttestRefusal(AppAttestReasons.receiptTooOld)
            }
        }
        guard instant <= receipt.expires else { throw AppAttestRefusal(AppAttestReasons.receiptExpired) }
    }

    private func judge(
        _ receipt: Receipt, _ attestation: ReceiptExpectation.Attestation
    ) throws(AppAttestRefusal) {
        guard receipt.kind == .attestation else { throw AppAttestRefusal(AppAttestReasons.receiptTypeUnexpected) }
        guard receipt.certificate.elementsEqual(attestation.leaf) else {
            throw AppAttestRefusal(AppAttestReasons.receiptKeyMismatch)
        }
        guard receipt.clientHash == attestation.clientDataHash else {
            throw AppAttestRefusal(AppAttestReasons.receiptClientDataHashMismatch)
        }
        guard receipt.created >= attestation.leafNotBefore, receipt.created <= attestation.leafNotAfter else {
            throw AppAttestRefusal(AppAttestReasons.receiptOutsideLeafValidity)
        }
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
            var signer = try Certificate(der: others[0])
            var intermediate = try Certificate(der: others[1])
            if !message.signer.names(signer) { swap(&signer, &intermediate) }
            guard message.signer.names(signer) else { throw AppAttestRefusal(AppAttestReasons.receiptSignerUnknown) }
            guard signer.value(of: .receiptSigner)?.elementsEqual([0x05, 0x00]) ?? false,
                signer.keyUsage?.contains(.digitalSignature) ?? true
            else { throw AppAttestRefusal(AppAttestReasons.receiptSignerUnfit) }
            try paths.verify([signer, intermediate], at: created)
            return try signer.key.publicKey()
        } catch let refusal as AppAttestRefusal {
            throw refusal
        } catch let error as CertificatePathError {
            throw AppAttestRefusal(AppAttestReasons.receiptChainInvalid, error.description)
        } catch {
            throw AppAttestRefusal(AppAttestReasons.receiptCertificateMalformed, "\(error)")
        }
    }
}
