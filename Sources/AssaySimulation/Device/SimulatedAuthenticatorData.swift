/// The parts of authenticator data (WebAuthn, section 6.1, as App Attest uses it), each free to be wrong.
public struct SimulatedAuthenticatorData: Sendable, Equatable {
    /// The attested credential data of an attestation (WebAuthn, section 6.5.1).
    public struct Credential: Sendable, Equatable {
        /// 16 bytes that name the App Attest environment.
        public var aaguid: [UInt8]
        /// The key's identifier: the SHA-256 of its public point.
        public var identifier: [UInt8]
        /// Set to write this length in the place of the identifier's own.
        public var declaredLength: UInt16?
        /// The encoded COSE key.
        public var publicKey: [UInt8]

        /// A credential whose declared length is its identifier's own.
        public init(aaguid: [UInt8], identifier: [UInt8], publicKey: [UInt8]) {
            self.aaguid = aaguid
            self.identifier = identifier
            self.publicKey = publicKey
        }
    }

    /// SHA-256 of the app's identifier.
    public var relyingPartyIDHash: [UInt8]
    /// The flags of WebAuthn: bit 6 for an attested credential, bit 7 for extensions.
    public var flags: UInt8
    /// 0 in attestations; it goes up with each assertion.
    public var counter: UInt32
    /// Nil in assertions.
    public var credential: Credential?
    /// The encoded extension map; empty if there is none.
    public var extensions: [UInt8]
    /// Bytes after everything else; none in evidence that is well formed.
    public var trailing: [UInt8] = []

    /// Authenticator data of these parts, without trailing bytes.
    public init(
        relyingPartyIDHash: [UInt8], flags: UInt8, counter: UInt32, credential: Credential?, extensions: [UInt8]
    ) {
        self.relyingPartyIDHash = relyingPartyIDHash
        self.flags = flags
        self.counter = counter
        self.credential = credential
        self.extensions = extensions
    }

    /// The encoded form.
    public var bytes: [UInt8] {
        var bytes = relyingPartyIDHash + [flags] + withUnsafeBytes(of: counter.bigEndian) { Array($0) }
        if let credential {
            let length = credential.declaredLength ?? UInt16(truncatingIfNeeded: credential.identifier.count)
            bytes += credential.aaguid + [UInt8(length >> 8), UInt8(length & 0xFF)]
            bytes += credential.identifier + credential.publicKey
        }
        return bytes + extensions + trailing
    }
}
