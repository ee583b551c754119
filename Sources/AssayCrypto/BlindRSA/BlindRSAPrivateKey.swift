/// The private key of an issuer of blind signatures (RFC 9474).
public struct BlindRSAPrivateKey: Sendable {
    /// The public half.
    public let publicKey: BlindRSAPublicKey
    private let signing: KeyOperation
    private let verification: KeyOperation

    /// A key for blind signatures.
    ///
    /// It must be used for nothing else: it signs numbers that others choose, such as the ones that decrypt a message or sign a
    /// document (RFC 9474, section 7.4).
    ///
    /// - Throws: ``CryptoError``: `unsupported_key` for a key that is not RSA, `operation_failed` when OpenSSL fails.
    public init(_ key: PrivateKey) throws(CryptoError) {
        guard case .rsa(let half) = key.publicKey else {
            throw CryptoError(.unsupportedKey, "a \(key.kind) key makes no blind signatures: RSA is needed")
        }
        publicKey = BlindRSAPublicKey(half)
        signing = try KeyOperation(.sign, key: key.handle, padding: .raw)
        verification = try KeyOperation(.verify, key: half.handle, padding: .raw)
    }

    /// Signs a blinded message (RFC 9474, section 4.3, BlindSign): one RSA private operation, which OpenSSL blinds against timing,
    /// and one public operation that checks its result.
    ///
    /// - Parameter message: a number below the modulus, big-endian and as long as the modulus.
    /// - Returns: the blind signature, as long as the modulus.
    /// - Throws: ``CryptoError``: `invalid_argument` for any other message, `operation_failed` when OpenSSL fails or its result is
    ///   wrong, which would reveal the key.
    public func sign(blinded message: some Collection<UInt8>) throws(CryptoError) -> [UInt8] {
        let message = Array(message)
        guard isValidMessage(message) else {
            throw CryptoError(
                .invalidArgument,
                "a blinded message is a number of \(publicKey.key.modulus.count) bytes below the modulus")
        }
        var signature = [UInt8](repeating: 0, count: message.count)
        let count = try signature.withUnsafeMutableBufferPointer { output throws(CryptoError) in
            try message.withUnsafeBufferPointer { message throws(CryptoError) in
                try signing.sign(digest: message, into: output)
            }
        }
        let isRight = signature.withUnsafeBufferPointer { signature in
            message.withUnsafeBufferPointer { verification.isValid(signature: signature, digest: $0) }
        }
        guard count == message.count, isRight else {
            throw CryptoError(.operationFailed, "a blind signature is wrong, and is not given away")
        }
        return signature
    }

    /// Whether ``sign(blinded:)`` accepts a message; this costs no RSA operation.
    public func isValidMessage(_ message: some Collection<UInt8>) -> Bool {
        message.count == publicKey.key.modulus.count && message.lexicographicallyPrecedes(publicKey.key.modulus)
    }
}

extension BlindRSAPrivateKey: CustomStringConvertible, CustomReflectable {
    /// The kind only.
    public var description: String { "<RSA-\(publicKey.key.bitCount) private key for blind signatures>" }
    /// An empty mirror, so that a dump reveals nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
