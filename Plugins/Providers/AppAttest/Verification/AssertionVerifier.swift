public import AssayCore
public import AssayCrypto

/// Verifies assertions with an attested key (Apple, Validating Apps That Connect to Your Server).
public struct AssertionVerifier: Sendable {
    /// The most bytes of an assertion; real ones have up to 230.
    public static let byteLimit = 4 * 1024

    /// Makes a verifier.
    public init() {}

    /// Verifies an assertion with the public key that an attestation gave: `04 ‖ X ‖ Y`.
    public func verify(
        _ assertion: [UInt8], publicKey: [UInt8], expecting expectation: AssertionExpectation
    ) -> AssertionOutcome {
        guard let key = try? ECPublicKey.kept(curve: .p256, x963: publicKey) else {
            return .refused(AppAttestRefusal(AppAttestReasons.assertionKeyInvalid))
        }
        return verify(assertion, publicKey: key, expecting: expectation)
    }

    /// Verifies an assertion with an attested public key that is at hand already.
    public func verify(
        _ assertion: [UInt8], publicKey: ECPublicKey, expecting expectation: AssertionExpectation
    ) -> AssertionOutcome {
        var trace = AppAttestTrace.none
        return verify(assertion, publicKey: publicKey, expecting: expectation, explaining: &trace)
    }

    /// Verifies an assertion, and tells each check.
    public func verify(
        _ assertion: [UInt8], publicKey: ECPublicKey, expecting expectation: AssertionExpectation,
        explaining trace: inout AppAttestTrace
    ) -> AssertionOutcome {
        do throws(AppAttestRefusal) {
            return .verified(try verified(assertion, publicKey, expectation, &trace))
        } catch {
            return .refused(error)
        }
    }

    /// The checks in their order.
    private static let checks: [AppAttestCheck] = [
        .evidenceSize, .assertionKey, .evidenceForm, .authenticatorData, .appID, .counterAdvanced, .assertionSignature,
    ]

    private func verified(
        _ bytes: [UInt8], _ publicKey: ECPublicKey, _ expectation: AssertionExpectation,
        _ trace: inout AppAttestTrace
    ) throws(AppAttestRefusal) -> VerifiedAssertion {
        trace.plan(Self.checks)
        try trace.check(
            .evidenceSize, bytes.count <= Self.byteLimit, AppAttestReasons.evidenceTooLarge,
            expected: "at most \(Self.byteLimit) bytes", found: "\(bytes.count)")
        try trace.check(
            .assertionKey, publicKey.curve == .p256, AppAttestReasons.assertionKeyInvalid, expected: "a key on P-256",
            found: "key \(Base64.encode(SHA256.hash(publicKey.x963))) on \(publicKey.curve)")
        let object = try trace.check(
            .evidenceForm, expected: "signature and authenticatorData",
            found: { $0.found },
            { () throws(AppAttestRefusal) in try AssertionObject(bytes) })
        let data = try trace.check(
            .authenticatorData, expected: "head, and a map of extensions or nothing", found: { $0.found },
            { () throws(AppAttestRefusal) in try AuthenticatorData(assertion: object.authenticatorData) })
        try trace.check(appIDOf: data, expectation.appID)
        try trace.check(
            .counterAdvanced, data.counter > expectation.previousCounter, AppAttestReasons.counterNotAdvanced,
            expected: "above \(expectation.previousCounter)", found: "\(data.counter)")
        // The nonce is the message of the signature, not its digest: it is hashed once more.
        let nonce = SHA256.hash(object.authenticatorData, expectation.clientDataHash)
        let isSigned = publicKey.isValidSignature(der: object.signature, digest: .sha256, message: nonce[...])
        try trace.check(
            .assertionSignature, isSigned, AppAttestReasons.assertionSignatureInvalid,
            expected: "a signature of key \(Base64.encode(SHA256.hash(publicKey.x963))) for the client data hash "
                + Hex.encode(expectation.clientDataHash),
            found: isSigned ? "such a signature" : "one of another key, or for other data")
        return VerifiedAssertion(
            counter: data.counter, validationCategory: data.extensions.validationCategory,
            bundleVersion: data.extensions.bundleVersion, codeDirectoryHash: data.extensions.codeDirectoryHash,
            codeDirectoryHashType: data.extensions.codeDirectoryHashType, flags: data.flags,
            unknownMembers: object.unknown)
    }
}

/// What an assertion must agree with.
public struct AssertionExpectation: Sendable {
    /// The App ID that the key was attested for.
    public let appID: AppAttestAppID
    /// What the client gave to `generateAssertion(_:clientDataHash:)`, of any length; it should be a SHA-256.
    public let clientDataHash: [UInt8]
    /// The counter of the last assertion that was accepted, 0 for none: the new one must be above.
    public let previousCounter: UInt32

    /// States what an assertion must agree with.
    ///
    /// - Parameters:
    ///   - appID: The app.
    ///   - clientDataHash: SHA-256 of the client data, 32 bytes.
    ///   - previousCounter: The counter of the last accepted assertion; the new one must be greater.
    public init(appID: AppAttestAppID, clientDataHash: [UInt8], previousCounter: UInt32) {
        self.appID = appID
        self.clientDataHash = clientDataHash
        self.previousCounter = previousCounter
    }
}

/// The outcome of verifying an assertion.
public enum AssertionOutcome: Sendable, Hashable {
    /// The assertion is genuine and agrees with what was expected.
    case verified(VerifiedAssertion)
    /// The assertion is refused.
    case refused(AppAttestRefusal)
}

/// What an assertion proved: the app on the device that has the attested key made it over this client data.
///
/// The caller must store the counter atomically, or two requests can use one assertion.
public struct VerifiedAssertion: Sendable, Hashable {
    /// The counter: above the one before, mostly by one, with gaps.
    public let counter: UInt32
    /// How the system came to trust the app; nil before iOS 27 and macOS 27.
    public let validationCategory: ValidationCategory?
    /// The version of the app's bundle; nil before iOS 27 and macOS 27.
    @Exact public private(set) var bundleVersion: String?
    /// The digest of the app's code directory, on Macs if the app requests it.
    public let codeDirectoryHash: [UInt8]?
    /// The kind of that digest; 2 is SHA-256.
    public let codeDirectoryHashType: UInt8?
    /// The flags of the authenticator data; nothing was judged by them.
    public let flags: UInt8
    /// Members of the assertion that this version passed over.
    let unknownMembers: UnknownMembers
}
