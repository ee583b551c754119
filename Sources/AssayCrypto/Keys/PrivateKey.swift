internal import CLibCrypto

/// A private key that signs: RSA by PKCS #1 v1.5, elliptic curves by ECDSA.
public struct PrivateKey: Sendable {
    /// What kind of key it is.
    public let kind: KeyKind
    /// The public half.
    public let publicKey: PublicKey

    let handle: KeyHandle
    private let signing: KeyOperation

    /// Wraps a key of OpenSSL, if its kind is supported and its two halves match.
    init(handle: KeyHandle) throws(CryptoError) {
        let publicKey = try PublicKey(handle: handle)
        self.handle = handle
        self.publicKey = publicKey
        switch publicKey {
        case .rsa(let key):
            kind = .rsa(bits: key.bitCount)
            signing = try KeyOperation(.sign, key: handle, padding: .pkcs1(.sha256))
        case .ec(let key):
            kind = .ec(key.curve)
            signing = try KeyOperation(.sign, key: handle, padding: nil)
        }
        try checkHalves()
    }

    /// The default digest of signatures by the key: SHA-384 on P-384, otherwise SHA-256.
    public var digest: DigestAlgorithm {
        kind == .ec(.p384) ? .sha384 : .sha256
    }

    /// Signs a message.
    ///
    /// - Parameters:
    ///   - message: the bytes, which are digested first.
    ///   - form: how an ECDSA signature is spelled; without effect on RSA.
    ///   - digest: any for ECDSA; nil for the key's own. RSA keys sign with SHA-256.
    /// - Throws: ``CryptoError``: `invalid_argument` for RSA with another digest, `operation_failed` when OpenSSL
    ///   fails.
    public func sign(
        _ message: some Collection<UInt8>, as form: SignatureForm = .der, digest: DigestAlgorithm? = nil
    ) throws(CryptoError) -> [UInt8] {
        var context = DigestContext(digest ?? self.digest)
        context.update(message)
        let digest = context.finish()
        switch publicKey {
        case .rsa(let key):
            guard digest.count == SHA256.byteCount else {
                throw CryptoError(.invalidArgument, "RSA keys sign with SHA-256 only")
            }
            return try signature(of: digest, capacity: key.modulus.count)
        case .ec(let key):
            let der = try signature(of: digest, capacity: ECDSASignatureFormat.maximumDERCount)
            switch form {
            case .der:
                return der
            case .raw:
                let raw = der.withUnsafeBufferPointer { ECDSASignatureFormat.raw(der: $0, curve: key.curve) }
                guard let raw else { throw CryptoError(.operationFailed, "OpenSSL made a malformed signature") }
                return raw
            }
        }
    }

    private func signature(of digest: [UInt8], capacity: Int) throws(CryptoError) -> [UInt8] {
        var failure: CryptoError?
        let signature = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            let output = UnsafeMutableBufferPointer(rebasing: buffer[..<capacity])
            do throws(CryptoError) {
                count = try digest.withUnsafeBufferPointer { digest throws(CryptoError) in
                    try signing.sign(digest: digest, into: output)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return signature
    }

    /// With the public half of another key, no signature could be verified.
    private func checkHalves() throws(CryptoError) {
        let message = Array("a key's two halves belong together".utf8)
        let signature = try sign(message)
        let isValid =
            switch publicKey {
            case .rsa(let key): key.isValidSignature(signature[...], digest: digest, message: message[...])
            case .ec(let key): key.isValidSignature(der: signature[...], digest: digest, message: message[...])
            }
        guard isValid else {
            throw CryptoError(.invalidKey, "the private and the public half do not belong together")
        }
    }
}

extension PrivateKey: CustomStringConvertible, CustomReflectable {
    /// The kind only.
    public var description: String { "<\(kind) private key>" }
    /// An empty mirror, so that a dump reveals nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
