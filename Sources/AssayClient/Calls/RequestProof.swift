/// Signs requests with the key of the device that the app's tokens name: ``AppAttestProvider``, or a provider of your own
/// whose plugin lets tokens name a key.
public protocol RequestProver: Sendable {
    /// Signs a digest.
    ///
    /// - Parameters:
    ///   - clientDataHash: the SHA-256 of what is signed.
    ///   - keyID: Base 64 of the SHA-256 of the public key, `04 ‖ X ‖ Y`.
    ///   - storage: what is kept for this app at this server.
    /// - Returns: an assertion in CBOR, with `signature` and `authenticatorData`; nil when the device does not have this
    ///   key any more.
    func assertion(
        over clientDataHash: [UInt8], by keyID: String, _ storage: BoundStorage
    ) async throws -> [UInt8]?
}

extension AppCheck {
    /// The header fields that prove that this device made a request: `Content-Digest`, `Signature-Input` and `Signature`.
    ///
    /// They are good once, for this method, URL and body, and for about a minute. ``ProtectedCalls`` sends them with each
    /// request if it is told to. The server's policy must have `key_in_tokens`.
    ///
    /// - Parameters:
    ///   - request: the request as it will be sent. Its own signatures stay beside the proof.
    ///   - token: the token that is sent with it.
    /// - Throws: `notConfigured` when the token names no key, `unsupportedDevice` when the provider cannot sign, and
    ///   `keyChanged` when the device has another key than the token: a new token mends it.
    public nonisolated(nonsending) func proof(
        of request: ClientRequest, with token: AppCheckToken
    ) async throws(AppCheckError) -> [ClientHeader] {
        guard let address = ServerAddress(request.url) else { throw ProtectedCalls.unprotected }
        guard let named = TokenClaims.namedKey(of: token.text) else {
            throw AppCheckError(
                .notConfigured,
                "The token names no key. Set `key_in_tokens: true` in the app's `app_attest` in the server's policy.")
        }
        // By the server's time, as the device's clock may be wrong; rather too early than in the server's future.
        let age = (clock.now - token.received).nanoseconds / 1_000_000_000
        let proof = RequestProof(
            method: request.method, address: address, body: request.body, created: named.issued + max(0, age))
        let assertion = try await fetcher.assertion(over: SHA256Digest.hash(Array(proof.base.utf8)), by: named.keyID)
        return proof.headers(assertion, beside: request.headers)
    }
}

/// What a proof covers, in the form of RFC 9421.
struct RequestProof: Sendable {
    private static let covered = #"("@method" "@authority" "@request-target" "content-digest")"#

    let method: String
    let authority: String
    let target: String
    let contentDigest: String
    let created: Int64

    init(method: String, address: ServerAddress, body: [UInt8], created: Int64) {
        self.method = method
        authority = address.authority
        target = address.requestTarget
        contentDigest = "sha-256=:\(Base64Text.encode(SHA256Digest.hash(body))):"
        self.created = created
    }

    /// Whether what a server wants signed for a token begins as a proof does: no genuine artifact does, and the signature would be
    /// good for a request.
    static func isBegun(by bytes: [UInt8]) -> Bool { bytes.starts(with: "\"@method\": ".utf8) }

    private var parameters: String { "\(Self.covered);created=\(created);tag=\"appcheck-request\"" }

    /// The signature base: what the device signs the SHA-256 of.
    var base: String {
        """
        "@method": \(method)
        "@authority": \(authority)
        "@request-target": \(target)
        "content-digest": \(contentDigest)
        "@signature-params": \(parameters)
        """
    }

    /// The fields of the proof; those of other signatures of the request are continued.
    func headers(_ assertion: [UInt8], beside others: [ClientHeader]) -> [ClientHeader] {
        func beside(_ name: String, _ member: String) -> ClientHeader {
            let others = others.filter { $0.name.loweredASCII.sameBytes(as: name.loweredASCII) }.map(\.value)
            return ClientHeader(name, (others + [member]).joined(separator: ", "))
        }
        return [
            ClientHeader("Content-Digest", contentDigest),
            beside("Signature-Input", "appcheck=\(parameters)"),
            beside("Signature", "appcheck=:\(Base64Text.encode(assertion)):"),
        ]
    }
}

extension ServerAddress {
    /// The host, with the port where it is not the scheme's own (RFC 9421, section 2.2.3).
    var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// The path with the query, as it is sent.
    var requestTarget: String { target.begins(with: "/") ? target : "/" + target }
}

extension AppAttestProvider: RequestProver {
    /// Signs with the attested key; nil when the device has another one, or lost it.
    public func assertion(
        over clientDataHash: [UInt8], by keyID: String, _ storage: BoundStorage
    ) async throws -> [UInt8]? {
        guard let key = storage.load(AttestedKey.name).flatMap(AttestedKey.init), key.identifier.sameBytes(as: keyID)
        else { return nil }
        do throws(DeviceError) {
            return try await device.generateAssertion(keyID, clientDataHash: clientDataHash)
        } catch {
            guard error.kind == .serverUnavailable || error.kind == .unsupported else { return nil }
            throw Self.failure(error, "sign a request")
        }
    }
}
