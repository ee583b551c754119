import AssayCore
import AssayCrypto
import AssayTestSupport
import Foundation
import Testing

/// A key, and how it signs, in the words of the `openssl` command and in ours.
struct SigningKey: Sendable, CustomTestStringConvertible {
    let kind: KeyKind
    let algorithm: SignatureAlgorithm

    var testDescription: String { "\(kind), \(algorithm)" }

    /// The options of `openssl genpkey`.
    var making: String {
        switch kind {
        case .rsa(let bits): "-algorithm RSA -pkeyopt rsa_keygen_bits:\(bits)"
        case .ec(let curve): "-algorithm EC -pkeyopt ec_paramgen_curve:\(curve.jwkName)"
        }
    }

    /// The options that choose the digest and the padding.
    var signing: String {
        let digest = "-sha\(algorithm.digest.byteCount * 8)"
        guard case .rsaPSS = algorithm else { return digest }
        return digest + " -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest"
    }
}

/// What OpenSSL makes with a key: a root and a leaf of that key, an intermediate of another one, a signed message.
struct OpenSSLChain {
    let root: [UInt8]
    let chain: [UInt8]
    let signature: [UInt8]
    static let message = Array("a message".utf8)

    init(_ key: SigningKey) throws {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("assay-x509-\(UUID().uuidString)")
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        let shell = ChildProcess()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-ec", Self.script(key)]
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

    private static func script(_ key: SigningKey) -> String {
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
        END
        openssl genpkey \(key.making) -out key.pem
        openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out other.pem
        openssl req -x509 -new -key key.pem \(key.signing) -subj /CN=root -days 3650 -config x.cnf -extensions ca -out root.pem
        openssl req -new -key other.pem -subj /CN=intermediate -config x.cnf -out intermediate.csr
        openssl x509 -req -in intermediate.csr -CA root.pem -CAkey key.pem -set_serial 2 -days 30 \(key.signing) \
          -extfile x.cnf -extensions ca -out intermediate.pem
        openssl req -new -key key.pem -subj /CN=leaf -config x.cnf -out leaf.csr
        openssl x509 -req -in leaf.csr -CA intermediate.pem -CAkey other.pem -set_serial 3 -days 30 -sha256 \
          -extfile x.cnf -extensions leaf -out leaf.pem
        cat leaf.pem intermediate.pem > chain.pem
        printf 'a message' | openssl dgst \(key.signing) -sign key.pem -out signature
        """
    }

    /// An hour from now, when all certificates are valid.
    static var instant: Instant { Instant(seconds: Int64(Date().timeIntervalSince1970) + 3600) }
}

struct OpenSSLPathTests {
    static let keys = [
        SigningKey(kind: .ec(.p256), algorithm: .ecdsa(.sha256)),
        SigningKey(kind: .ec(.p256), algorithm: .ecdsa(.sha512)),
        SigningKey(kind: .ec(.p384), algorithm: .ecdsa(.sha384)),
        SigningKey(kind: .rsa(bits: 2048), algorithm: .rsaPKCS1(.sha256)),
        SigningKey(kind: .rsa(bits: 3072), algorithm: .rsaPKCS1(.sha384)),
        SigningKey(kind: .rsa(bits: 4096), algorithm: .rsaPKCS1(.sha512)),
        SigningKey(kind: .rsa(bits: 2048), algorithm: .rsaPSS(.sha256)),
        SigningKey(kind: .rsa(bits: 2048), algorithm: .rsaPSS(.sha384)),
        SigningKey(kind: .rsa(bits: 2048), algorithm: .rsaPSS(.sha512)),
    ]

    @Test("A path of each kind of key and signature that OpenSSL makes is verified", arguments: keys)
    func paths(_ key: SigningKey) throws {
        let made = try OpenSSLChain(key)
        let path = try Certificate.chain(pem: made.chain)
        try #require(path.count == 2)
        #expect(path[0].key.kind == key.kind)
        #expect(path[1].signatureAlgorithm == key.algorithm)
        let anchor = try TrustAnchor(der: try #require(PEM.blocks("CERTIFICATE", in: made.root).first))
        let verifier = CertificatePathVerifier(anchors: [anchor])
        #expect(try verifier.verify(path, at: OpenSSLChain.instant).fingerprint == anchor.fingerprint)

        // One bit of the root's signature on the intermediate.
        var spoilt = Array(path[1].encoded)
        spoilt[spoilt.count - 1] ^= 1
        let changed = [path[0], try Certificate(der: spoilt[...])]
        #expect(throws: CertificatePathError(.signatureInvalid, at: 1)) {
            try verifier.verify(changed, at: OpenSSLChain.instant)
        }
    }

    @Test("A certified key verifies a signature by the algorithm that made it, and by no other", arguments: keys)
    func signatures(_ key: SigningKey) throws {
        let made = try OpenSSLChain(key)
        let publicKey = try #require(Certificate.chain(pem: made.chain).first).key.publicKey()
        for digest in DigestAlgorithm.allCases {
            for algorithm in [SignatureAlgorithm.ecdsa(digest), .rsaPKCS1(digest), .rsaPSS(digest)] {
                let isValid = publicKey.isValidSignature(
                    made.signature[...], by: algorithm, message: OpenSSLChain.message[...])
                #expect(isValid == (algorithm == key.algorithm), "\(algorithm)")
            }
        }
        var spoilt = made.signature
        spoilt[spoilt.count - 1] ^= 1
        #expect(!publicKey.isValidSignature(spoilt[...], by: key.algorithm, message: OpenSSLChain.message[...]))
        #expect(!publicKey.isValidSignature(made.signature[...], by: key.algorithm, message: [1]))
        #expect(!publicKey.isValidSignature([], by: key.algorithm, message: OpenSSLChain.message[...]))
    }
}
