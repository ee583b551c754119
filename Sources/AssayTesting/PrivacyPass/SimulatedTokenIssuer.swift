public import AssayCore
internal import AssayCrypto

/// An issuer of Privacy Pass (RFC 9578, section 6) that signs for everybody.
public struct SimulatedTokenIssuer: Sendable {
    /// `issuer_name` of its challenges.
    @Exact public private(set) var name: String
    /// The private key in PEM.
    public let privateKeyPEM: String
    private let key: BlindRSAPrivateKey

    /// Makes an issuer with a key of its own, of 2048 bits.
    public init(name: String = "issuer.example.com") throws(SimulationError) {
        let (key, pem) = try SimulationError.wrapping { () throws(CryptoError) in
            let key = try PrivateKey.generate(.rsa(bits: 2048))
            return (
                try BlindRSAPrivateKey(key), try key.pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            )
        }
        self.name = name
        (self.key, privateKeyPEM) = (key, pem)
    }

    /// The public key as directories and challenges have it: a SubjectPublicKeyInfo with id-RSASSA-PSS.
    public var tokenKey: [UInt8] { key.publicKey.subjectPublicKeyInfo }

    /// The `TokenResponse` to a `TokenRequest`; nil for one that is malformed or for another key.
    public func respond(to request: [UInt8]) -> [UInt8]? {
        guard request.count == 259, request.starts(with: [0, 2]), request[2] == key.publicKey.identifier.last else {
            return nil
        }
        return try? key.sign(blinded: request[3...])
    }

    /// A token for a challenge.
    ///
    /// - Parameters:
    ///   - change: changes what is signed, 98 bytes, as only an issuer with a client of its own can.
    ///   - saltCount: the length of the salt; with another one than 48, the token is invalid.
    public func token(
        for challenge: [UInt8], random: Randomness = .system, saltCount: Int = 48,
        change: (inout [UInt8]) -> Void = { _ in }
    ) throws(SimulationError) -> [UInt8] {
        let order = try SimulatedTokenOrder(
            for: challenge, tokenKey: tokenKey, random: random, saltCount: saltCount, change: change)
        guard let response = respond(to: order.request) else {
            throw .crypto(CryptoError(.operationFailed, "the issuer has another key"))
        }
        return try order.unverifiedToken(response)
    }
}

/// A client's side of one token: the request to an issuer, and the token that it makes of the response.
public struct SimulatedTokenOrder: Sendable {
    /// The `TokenRequest`, 259 bytes.
    public let request: [UInt8]
    private let signed: [UInt8]
    private let blinded: BlindedMessage

    /// Blinds a new token for a challenge.
    ///
    /// - Parameters:
    ///   - challenge: the `TokenChallenge`.
    ///   - tokenKey: the issuer's key, as its directory has it.
    ///   - change: changes what is signed, 98 bytes.
    public init(
        for challenge: [UInt8], tokenKey: [UInt8], random: Randomness = .system, saltCount: Int = 48,
        change: (inout [UInt8]) -> Void = { _ in }
    ) throws(SimulationError) {
        let (key, nonce) = (
            try SimulationError.wrapping { () throws(CryptoError) in
                try BlindRSAPublicKey(subjectPublicKeyInfo: tokenKey)
            },
            random.bytes(32)
        )
        var signed = [0, 2] + nonce + SHA256.hash(challenge) + key.identifier
        change(&signed)
        let message = signed
        // The top bit is clear, so that the number is below the modulus.
        let blind = [random.bytes(1).first.map { $0 & 0x7F } ?? 1] + random.bytes(key.key.modulus.count - 1)
        let salt = random.bytes(saltCount)
        let blinded = try SimulationError.wrapping { () throws(CryptoError) in
            try BlindedMessage(message, for: key, salt: salt, blind: blind)
        }
        self.signed = signed
        self.blinded = blinded
        request = [0, 2, key.identifier.last ?? 0] + blinded.bytes
    }

    /// The token, 354 bytes, of an issuer's response.
    ///
    /// - Throws: when the response is no blind signature of the issuer's key.
    public func token(_ response: [UInt8]) throws(SimulationError) -> [UInt8] {
        try signed + SimulationError.wrapping { () throws(CryptoError) in try blinded.signature(from: response) }
    }

    func unverifiedToken(_ response: [UInt8]) throws(SimulationError) -> [UInt8] {
        try signed
            + SimulationError.wrapping { () throws(CryptoError) in try blinded.uncheckedSignature(from: response) }
    }
}

/// Texts and bytes of Privacy Pass (RFC 9577).
public enum SimulatedTokenText {
    /// A `TokenChallenge` of type 0x0002.
    ///
    /// - Parameters:
    ///   - redemption: `redemption_context`.
    ///   - origins: `origin_info`, with commas between names.
    public static func challenge(issuer: String, redemption: [UInt8], origins: String) -> [UInt8] {
        func length(_ text: String) -> [UInt8] { [UInt8(text.utf8.count >> 8 & 0xFF), UInt8(text.utf8.count & 0xFF)] }
        return [0, 2] + length(issuer) + Array(issuer.utf8) + [UInt8(redemption.count & 0xFF)] + redemption
            + length(origins)
            + Array(origins.utf8)
    }

    /// The value of `Authorization` with a token.
    public static func authorization(_ token: [UInt8]) -> String { "PrivateToken token=\"\(padded(token))\"" }

    /// Base 64 for URLs with padding.
    public static func padded(_ bytes: [UInt8]) -> String {
        let text = Base64.encodeURL(bytes)
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}
