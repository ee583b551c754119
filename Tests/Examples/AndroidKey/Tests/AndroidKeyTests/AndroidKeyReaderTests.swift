import AssayCore
import AssayCrypto
import Foundation
import Testing

@testable import AndroidKey

/// A chain of the form that Android devices send: an RSA root, intermediates on P-384 and P-256, and a leaf with a
/// description of its key.
struct AndroidChain {
    let root: [UInt8]
    let chain: [UInt8]
    let signature: [UInt8]
    static let message = Array("signed by the attested key".utf8)

    /// - Parameters:
    ///   - leaf: the options of `openssl genpkey` for the attested key.
    ///   - description: the value of the extension, in the words of OpenSSL's `ASN1_generate_nconf`; nil for none.
    init(leaf: String, description: String? = "SEQUENCE:description") throws {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("assay-android-\(UUID().uuidString)")
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-ec", Self.script(leaf: leaf, description: description)]
        shell.currentDirectoryURL = folder
        shell.standardError = FileHandle.nullDevice
        try shell.run()
        shell.waitUntilExit()
        try #require(shell.terminationStatus == 0)
        func read(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: folder.appendingPathComponent(name))) }
        root = try read("root.pem")
        chain = try read("chain.pem")
        signature = try read("signature")
    }

    private static func script(leaf: String, description: String?) -> String {
        """
        cat > x.cnf <<'END'
        [req]
        distinguished_name = dn
        [dn]
        [ca]
        basicConstraints = critical, CA:TRUE
        keyUsage = critical, keyCertSign
        [leaf]
        keyUsage = critical, digitalSignature
        \(description.map { "1.3.6.1.4.1.11129.2.1.17 = ASN1:\($0)" } ?? "")
        [description]
        version = INTEGER:300
        level = ENUMERATED:1
        keymint = INTEGER:300
        keymintLevel = ENUMERATED:1
        challenge = FORMAT:HEX,OCTETSTRING:0102030405
        unique = FORMAT:HEX,OCTETSTRING:00
        software = SEQUENCE:software
        hardware = SEQUENCE:hardware
        [software]
        created = EXPLICIT:701,INTEGER:1764000000123
        [hardware]
        purpose = EXPLICIT:1,SET:purposes
        algorithm = EXPLICIT:2,INTEGER:3
        noAuthentication = EXPLICIT:503,NULL
        rootOfTrust = EXPLICIT:704,SEQUENCE:rootOfTrust
        osVersion = EXPLICIT:705,INTEGER:160000
        [purposes]
        sign = INTEGER:2
        verify = INTEGER:3
        [rootOfTrust]
        key = FORMAT:HEX,OCTETSTRING:AA
        locked = BOOLEAN:TRUE
        state = ENUMERATED:0
        hash = FORMAT:HEX,OCTETSTRING:BB
        END
        key() { openssl genpkey $2 -out $1.key; openssl req -new -key $1.key -subj /CN=$1 -config x.cnf -out $1.csr; }
        sign() { openssl x509 -req -in $2.csr -CA $1.pem -CAkey $1.key -set_serial $3 -days 30 $4 -extfile x.cnf \
          -extensions $5 -out $2.pem; }
        key root '-algorithm RSA -pkeyopt rsa_keygen_bits:3072'
        openssl req -x509 -new -key root.key -sha256 -subj /CN=root -days 3650 -config x.cnf -extensions ca -out root.pem
        key google '-algorithm EC -pkeyopt ec_paramgen_curve:P-384'
        sign root google 2 -sha512 ca
        key device '-algorithm EC -pkeyopt ec_paramgen_curve:P-256'
        sign google device 3 -sha384 ca
        key leaf '\(leaf)'
        sign device leaf 1 -sha256 leaf
        cat leaf.pem device.pem google.pem root.pem > chain.pem
        printf 'signed by the attested key' | openssl dgst -sha256 -sign leaf.key -out signature
        """
    }

    func anchor() throws -> TrustAnchor {
        try TrustAnchor(der: try #require(PEM.blocks("CERTIFICATE", in: root).first))
    }

    /// An hour from now, when all certificates are valid.
    static var instant: Instant { Instant(seconds: Int64(Date().timeIntervalSince1970) + 3600) }
}

struct AndroidKeyReaderTests {
    private static let p256 = "-algorithm EC -pkeyopt ec_paramgen_curve:P-256"

    @Test(
        "A chain of RSA, P-384 and P-256 is verified, its key described, and a signature of the key checked",
        arguments: [
            (p256, KeyKind.ec(.p256), SignatureAlgorithm.ecdsa(.sha256)),
            ("-algorithm EC -pkeyopt ec_paramgen_curve:P-384", .ec(.p384), .ecdsa(.sha256)),
            ("-algorithm RSA -pkeyopt rsa_keygen_bits:2048", .rsa(bits: 2048), .rsaPKCS1(.sha256)),
        ])
    func good(_ options: String, _ kind: KeyKind, _ algorithm: SignatureAlgorithm) throws {
        let made = try AndroidChain(leaf: options)
        // As Android's key store returns it: one DER value for each certificate.
        let chain = try Certificate.chain(der: PEM.blocks("CERTIFICATE", in: made.chain))
        #expect(chain.map(\.key.kind) == [kind, .ec(.p256), .ec(.p384), .rsa(bits: 3072)])
        #expect(
            chain.map(\.signatureAlgorithm)
                == [.ecdsa(.sha256), .ecdsa(.sha384), .rsaPKCS1(.sha512), .rsaPKCS1(.sha256)])
        let attestation = try AndroidKeyAttestation(chain, under: [made.anchor()], at: AndroidChain.instant)
        #expect(attestation.version == 300)
        #expect(attestation.securityLevel == .trustedEnvironment)
        #expect(attestation.challenge == [1, 2, 3, 4, 5])
        #expect(attestation.purposes == [2, 3])
        #expect(attestation.created == Instant(seconds: 1_764_000_000))
        #expect(attestation.isDeviceLocked == true)
        #expect(attestation.noAuthenticationRequired)
        let message = AndroidChain.message
        #expect(attestation.key.isValidSignature(made.signature[...], by: algorithm, message: message[...]))
        #expect(!attestation.key.isValidSignature(made.signature[...], by: algorithm, message: message.dropLast()))
    }

    @Test("What is not certified by the root, in time and within the length, is refused")
    func paths() throws {
        let made = try AndroidChain(leaf: Self.p256)
        let chain = try Certificate.chain(pem: made.chain)
        let anchor = try made.anchor()
        func refusal(
            _ chain: [Certificate], _ anchor: TrustAnchor, at instant: Instant = AndroidChain.instant
        ) -> AndroidKeyAttestation.Refusal? {
            do {
                _ = try AndroidKeyAttestation(chain, under: [anchor], at: instant)
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal(chain, anchor) == nil)
        #expect(refusal(Array(chain.dropLast()), anchor) == nil)
        let other = try AndroidChain(leaf: Self.p256).anchor()
        guard case .untrusted(let error) = refusal(Array(chain.dropLast()), other) else {
            Issue.record("another root of the same name")
            return
        }
        #expect(error.code == .signatureInvalid && error.position == 2)
        func code(_ refusal: AndroidKeyAttestation.Refusal?) -> CertificatePathError.Code? {
            if case .untrusted(let error) = refusal { error.code } else { nil }
        }
        let late = AndroidChain.instant + .seconds(40 * 86_400)
        #expect(code(refusal(chain, anchor, at: late)) == .expired)
        #expect(code(refusal(chain, anchor, at: Instant(seconds: 0))) == .notYetValid)
        #expect(code(refusal(Array(chain.dropFirst()), anchor)) == .leafIsAuthority)
        #expect(code(refusal([chain[0], chain[2]], anchor)) == .issuerMismatch)
        #expect(code(refusal([chain[0], chain[1]], anchor)) == .untrusted)
        let long = [chain[0]] + [Certificate](repeating: chain[1], count: 4)
        #expect(code(refusal(long, anchor)) == .lengthUnsupported)
    }

    @Test(
        "A leaf without a description, and one with a malformed one, is refused",
        arguments: [
            (nil, AndroidKeyAttestation.Refusal.extensionMissing), ("NULL", .malformed),
            ("FORMAT:HEX,OCTETSTRING:00", .malformed), ("SEQUENCE:software", .malformed),
            ("SEQUENCE:rootOfTrust", .malformed),
        ] as [(String?, AndroidKeyAttestation.Refusal)])
    func descriptions(_ description: String?, _ refusal: AndroidKeyAttestation.Refusal) throws {
        let made = try AndroidChain(leaf: Self.p256, description: description)
        let chain = try Certificate.chain(pem: made.chain)
        #expect(throws: refusal) {
            try AndroidKeyAttestation(chain, under: [made.anchor()], at: AndroidChain.instant)
        }
    }
}
