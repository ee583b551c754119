internal import AssayCore
internal import AssayCrypto
internal import AssayTesting
internal import CBareCrypto

/// A signature that OpenSSL verifies or makes, with nothing around it.
// The key's context is used by one thread at a time, for measurements follow each other. It lives as long as the process.
final class BareCall: @unchecked Sendable {
    private let key: OpaquePointer

    private init(_ key: OpaquePointer?) throws(BenchmarkFailure) {
        guard let key else { throw BenchmarkFailure("OpenSSL does not take the key") }
        self.key = key
    }

    /// Verifies a signature with SHA-256 over a message.
    static func verification(
        _ publicKey: PublicKey, message: some Collection<UInt8>, signature: [UInt8]
    ) throws -> BareCall {
        let pem = try publicKey.pem()
        return try BareCall(
            bare_verification(pem, pem.count, SHA256.hash(message), signature, signature.count))
    }

    /// Verifies one signature of a key by ECDSA with SHA-256.
    static func verification(with key: SimulatedKey) throws -> Operation {
        let message = Array("a message".utf8)
        return try verification(
            .ec(ECPublicKey(curve: key.curve, x963: key.point)), message: message,
            signature: key.sign(message, digest: .sha256)
        ).operation
    }

    /// Signs a digest with a new RSA key of 2048 bits.
    static func rsaSigning() throws -> BareCall {
        let pem = try PrivateKey.generate(.rsa(bits: 2048)).pem().withUnsafeBytes { Array($0) }
        return try BareCall(bare_signing(pem, pem.count, SHA256.hash(Array("a message".utf8))))
    }

    var operation: Operation {
        Operation(repeating: { count in
            try BenchmarkFailure.unless(bare_repeat(self.key, count), "OpenSSL's bare call fails")
        })
    }
}
