/// The parts of authenticator data (WebAuthn, section 6.1, as App Attest uses it), each free to be wrong.
public struct SimulatedAuthenticatorData: Sendable, Equatable {
    /// The attested credential data of an attestation (WebAuthn, section 6.5.1).
    public struct Credential: Sendable, Equatable {
        public var aaguid: [UInt8]
        public var identifier: [UInt8]
        /// Set to write this length in the place of the identifier's own.
        public var declaredLength: UInt16?
        /// The encoded COSE key.
        public var publicKey: [UInt8]

        public init(aaguid: [UInt8], identifier: [UInt8], publicKey: [UInt8]) {
            self.aaguid = aaguid
            self.identifier = identifier
            self.publicKey = publicKey
        }
    }

    /// SHA-256 of the app's identifier.
    public var relyingPartyIDHash: [UInt8]
    public var flags: UInt8
    public var counter: UInt32
    /// Nil in assertions.
    public var credential: Credential?
    /// The encoded extension map; empty where there is none.
    public var extensions: [UInt8]
    /// Bytes after everything else; none in evidence that is well formed.
    public var trailing: [UInt8] = []

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
