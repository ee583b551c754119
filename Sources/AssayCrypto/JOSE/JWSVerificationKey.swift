#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A key that verifies tokens, and what tokens look like that ``JWSSigner`` made with it.
// A class, so that looking through the keys of a set copies nothing.
final class JWSVerificationKey: Sendable {
    let publicKey: PublicKey
    /// The header that the key's tokens have.
    let header: JWSHeader
    /// The encoded header with the dot after it: tokens that start with it need no parsing of the header.
    private let head: [UInt8]
    /// The length of every signature of the key, in bytes.
    private let signatureCount: Int

    init(_ publicKey: PublicKey, keyID: String) {
        let algorithm = JWSAlgorithm(for: publicKey)
        self.publicKey = publicKey
        header = JWSHeader(algorithm: algorithm, keyID: keyID, type: "JWT")
        head = JWSHeader.encoded(keyID: keyID, algorithm: algorithm) + [UInt8(ascii: ".")]
        signatureCount =
            switch publicKey {
            case .rsa(let key): key.modulus.count
            case .ec(let key): 2 * key.curve.coordinateSize
            }
    }

    /// Verifies a token with this exact header, and a signature of the right length after the second dot.
    ///
    /// Where the dots are is known beforehand then; a third one is a character that no part can have. Nil means that
    /// the token is not of this form, and says nothing about its validity.
    func verify(_ token: Span<UInt8>, _ body: (JWSHeader, _ payload: Span<UInt8>) -> Void) -> Bool? {
        let end = token.count - Base64URL.encodedCount(signatureCount) - 1
        guard token.count <= CompactJWS.maximumByteCount, end >= head.count, token[end] == UInt8(ascii: ".") else {
            return nil
        }
        return token.withUnsafeBufferPointer { token in
            guard let start = token.baseAddress, memcmp(start, head, head.count) == 0 else { return nil }
            let payloadText = UnsafeBufferPointer(rebasing: token[head.count..<end])
            let signatureText = UnsafeBufferPointer(rebasing: token[(end + 1)...])
            let payloadCount = Base64URL.decodedCount(payloadText.count)
            // On the stack, unless the payload is unusually large.
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: payloadCount + signatureCount) { decoded in
                let payload = UnsafeMutableBufferPointer(rebasing: decoded[..<payloadCount])
                let signature = UnsafeMutableBufferPointer(rebasing: decoded[payloadCount...])
                guard Base64URL.decode(payloadText, into: payload), Base64URL.decode(signatureText, into: signature)
                else { return nil }
                let input = UnsafeBufferPointer(rebasing: token[..<end])
                guard isValid(UnsafeBufferPointer(signature), over: input) else { return false }
                body(header, UnsafeBufferPointer(payload).span)
                return true
            }
        }
    }

    private func isValid(_ signature: UnsafeBufferPointer<UInt8>, over input: UnsafeBufferPointer<UInt8>) -> Bool {
        let digest = header.algorithm.digest
        return switch publicKey {
        case .rsa(let key): key.isValidSignature(signature, digest: digest, message: input)
        case .ec(let key): key.isValidSignature(raw: signature, digest: digest, message: input)
        }
    }
}
