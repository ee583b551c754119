public import AssayCBOR
public import AssayCore
public import AssayCrypto
internal import Synchronization

/// A device whose App Attest evidence has the shape of a genuine one's, under a simulated authority.
///
/// It replaces `DCAppAttestService`: keys are named by their identifier, and the calls have its order.
///
///     let device = SimulatedDevice(authority: ca, system: .iOS27)
///     let keyID = try device.generateKey()
///     let attestation = try device.attestKey(keyID, clientDataHash: hash, app: app, at: now)
///     let assertion = try device.generateAssertion(keyID, clientDataHash: hash, app: app)
public final class SimulatedDevice: Sendable {
    private struct StoredKey {
        let key: SimulatedKey
        var counter: UInt32 = 0
    }

    /// The authority that certifies the device's keys.
    public let authority: SimulatedAppleCA
    /// The device's statements about its operating system.
    public let system: SimulatedSystem
    private let random: Randomness
    private let keys = Mutex<[String: StoredKey]>([:])

    /// A device without keys; with a seeded random source its evidence is the same each time.
    public init(authority: SimulatedAppleCA, system: SimulatedSystem = .iOS27, random: Randomness = .system) {
        self.authority = authority
        self.system = system
        self.random = random
    }

    /// Makes a key and returns its identifier: Base 64 of the SHA-256 of its public point.
    ///
    /// - Parameter curve: P-256 on every genuine device.
    public func generateKey(_ curve: EllipticCurve = .p256) throws(SimulationError) -> String {
        let key = try SimulationError.wrapping { () throws(CryptoError) in
            try SimulatedKey(curve, random: random)
        }
        let identifier = Base64.encode(key.identifier)
        keys.withLock { $0[identifier] = StoredKey(key: key) }
        return identifier
    }

    /// The key with an identifier.
    public func key(_ keyID: String) throws(SimulationError) -> SimulatedKey {
        guard let stored = keys.withLock({ $0[keyID] }) else { throw .unknownKey(keyID) }
        return stored.key
    }

    /// Makes the attestation object of a key, in CBOR.
    ///
    /// - `clientDataHash`: Bytes of any length; an app passes the SHA-256 of a challenge.
    /// - `now`: When the simulated authority issues leaf and receipt.
    public func attestKey(
        _ keyID: String, clientDataHash: [UInt8], app: SimulatedApp, at now: Instant,
        options: AttestationOptions = AttestationOptions()
    ) throws(SimulationError) -> [UInt8] {
        let key = try key(keyID)
        var authenticatorData = authenticatorData(for: app, counter: 0)
        authenticatorData.credential = SimulatedAuthenticatorData.Credential(
            aaguid: app.environment.aaguid, identifier: key.identifier, publicKey: SimulatedCOSEKey(key).encoded)
        options.authenticatorData(&authenticatorData)

        var nonce = SHA256.hash(authenticatorData.bytes + clientDataHash)
        options.nonce(&nonce)
        var template = leaf(of: key, nonce: nonce, app: app, at: now)
        options.leaf(&template)
        let leaf = try SimulationError.wrapping { () throws(CryptoError) in try template.signed() }
        var chain = [leaf, authority.intermediate.certificateDER]
        options.chain(&chain)

        var receiptTemplate = ReceiptTemplate(
            fields: ReceiptField.attestation(
                app: app, certificate: leaf, clientDataHash: clientDataHash, token: random.bytes(64), at: now),
            signedBy: authority)
        options.receipt(&receiptTemplate)
        var receipt = try SimulationError.wrapping { () throws(CryptoError) in try receiptTemplate.signed() }
        options.receiptBytes(&receipt)

        var statement: [CBORPair] = [
            CBORPair(.text("x5c"), .array(chain.map(CBORValue.bytes))), CBORPair(.text("receipt"), .bytes(receipt)),
        ]
        options.statement(&statement)
        var object: [CBORPair] = [
            CBORPair(.text("fmt"), .text("apple-appattest")), CBORPair(.text("attStmt"), .map(statement)),
            CBORPair(.text("authData"), .bytes(authenticatorData.bytes)),
        ]
        options.object(&object)
        var encoded = CBOREncoder().encode(.map(object))
        options.encoded(&encoded)
        return encoded
    }

    /// Makes an assertion in CBOR, and raises the key's counter by one.
    ///
    /// - `clientDataHash`: Bytes of any length; an app passes the SHA-256 of its request.
    public func generateAssertion(
        _ keyID: String, clientDataHash: [UInt8], app: SimulatedApp, options: AssertionOptions = AssertionOptions()
    ) throws(SimulationError) -> [UInt8] {
        let raised = keys.withLock { keys in
            keys[keyID]?.counter &+= 1
            return keys[keyID]
        }
        guard let raised else { throw .unknownKey(keyID) }
        var authenticatorData = authenticatorData(for: app, counter: raised.counter)
        options.authenticatorData(&authenticatorData)

        // ECDSA digests this once more: the nonce is the message, not the digest.
        var message = SHA256.hash(authenticatorData.bytes + clientDataHash)
        options.message(&message)
        let signed = message
        var signature = try SimulationError.wrapping { () throws(CryptoError) in
            try raised.key.sign(signed, digest: .sha256)
        }
        options.signature(&signature)
        var object: [CBORPair] = [
            CBORPair(.text("signature"), .bytes(signature)),
            CBORPair(.text("authenticatorData"), .bytes(authenticatorData.bytes)),
        ]
        options.object(&object)
        var encoded = CBOREncoder().encode(.map(object))
        options.encoded(&encoded)
        return encoded
    }

    private func authenticatorData(for app: SimulatedApp, counter: UInt32) -> SimulatedAuthenticatorData {
        let codeDirectoryHash = SHA256.hash(Array("code of \(app.appID) \(app.bundleVersion)".utf8))
        let extensions = app.extensions(on: system, codeDirectoryHash: codeDirectoryHash)
        return SimulatedAuthenticatorData(
            relyingPartyIDHash: SHA256.hash(Array(app.appID.utf8)), flags: system.flags, counter: counter,
            credential: nil, extensions: extensions.map { CBOREncoder().encode(.map($0)) } ?? [])
    }

    private func leaf(
        of key: SimulatedKey, nonce: [UInt8], app: SimulatedApp, at now: Instant
    ) -> CertificateTemplate {
        let issued = Instant(seconds: now.seconds) - .days(1)
        return CertificateTemplate(
            // Apple counts the milliseconds up to a moment shortly before the receipt.
            serialNumber: withUnsafeBytes(of: now.milliseconds.bigEndian) { Array($0) },
            issuer: authority.intermediate.name,
            subject: NameTemplate(
                commonName: Hex.encode(key.identifier), organizationalUnit: "AAA Certification",
                organization: SimulatedAppleCA.organization, state: "California"),
            notBefore: issued, notAfter: issued + .days(3), publicKey: SubjectPublicKey(key),
            extensions: LeafExtensions.all(nonce: nonce, appID: app.appID, system: system), digest: .sha256,
            signer: authority.intermediate.key)
    }
}

/// How an attestation is bent: one change at each stage of its making, in this order; what comes later builds on it.
///
/// A change to authenticator data, for instance, also changes the nonce of the leaf, so that only the changed part is
/// wrong. Without a change, a stage does the same as a genuine device.
public struct AttestationOptions: Sendable {
    /// Before the nonce is computed.
    public var authenticatorData: @Sendable (inout SimulatedAuthenticatorData) -> Void = { _ in }
    /// The nonce, before it goes into the leaf.
    public var nonce: @Sendable (inout [UInt8]) -> Void = { _ in }
    /// The leaf, before it is signed.
    public var leaf: @Sendable (inout CertificateTemplate) -> Void = { _ in }
    /// The certificates of `x5c`: leaf and intermediate, in DER.
    public var chain: @Sendable (inout [[UInt8]]) -> Void = { _ in }
    /// The receipt, before it is signed.
    public var receipt: @Sendable (inout ReceiptTemplate) -> Void = { _ in }
    /// The receipt's encoded form.
    public var receiptBytes: @Sendable (inout [UInt8]) -> Void = { _ in }
    /// The attestation statement: `x5c` and `receipt`.
    public var statement: @Sendable (inout [CBORPair]) -> Void = { _ in }
    /// The attestation object: `fmt`, `attStmt` and `authData`.
    public var object: @Sendable (inout [CBORPair]) -> Void = { _ in }
    /// The encoded attestation object.
    public var encoded: @Sendable (inout [UInt8]) -> Void = { _ in }

    /// What a genuine device does.
    public init() {}
}

/// How an assertion is bent: one change at each stage of its making, in this order; what comes later builds on it.
public struct AssertionOptions: Sendable {
    /// Before it is signed.
    public var authenticatorData: @Sendable (inout SimulatedAuthenticatorData) -> Void = { _ in }
    /// What ECDSA with SHA-256 signs: SHA-256 of authenticator data and client data hash.
    public var message: @Sendable (inout [UInt8]) -> Void = { _ in }
    /// The signature in DER.
    public var signature: @Sendable (inout [UInt8]) -> Void = { _ in }
    /// The assertion: `signature` and `authenticatorData`.
    public var object: @Sendable (inout [CBORPair]) -> Void = { _ in }
    /// The encoded assertion.
    public var encoded: @Sendable (inout [UInt8]) -> Void = { _ in }

    /// What a genuine device does.
    public init() {}
}

/// The reason why a simulated device could not do what was asked.
public enum SimulationError: Error, Sendable, Equatable {
    /// The device holds no key with this identifier.
    case unknownKey(String)
    /// A key or signature could not be made.
    case crypto(CryptoError)

    package static func wrapping<Result>(
        _ operation: () throws(CryptoError) -> Result
    ) throws(SimulationError) -> Result {
        do throws(CryptoError) {
            return try operation()
        } catch {
            throw .crypto(error)
        }
    }
}
