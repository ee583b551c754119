import AssayCore
import AssayCrypto
import Testing

/// A root, an intermediate and a leaf, each of which a case can spoil before it is signed.
struct TestPath {
    let rootKey: PrivateKey
    let intermediateKey: PrivateKey
    let leafKey: PrivateKey
    var root: X509TestCertificate
    var intermediate: X509TestCertificate
    var leaf: X509TestCertificate
    /// Who signs the intermediate and the leaf, where it is not their issuer.
    var intermediateSigner: PrivateKey?
    var leafSigner: PrivateKey?

    init() throws {
        rootKey = try PrivateKey.generate(.ec(.p384))
        intermediateKey = try PrivateKey.generate(.ec(.p384))
        leafKey = try PrivateKey.generate(.ec(.p256))
        root = X509TestCertificate(rootKey, subject: "root", issuer: "root", isAuthority: true)
        intermediate = X509TestCertificate(
            intermediateKey, subject: "intermediate", issuer: "root", isAuthority: true, pathLength: 0)
        leaf = X509TestCertificate(leafKey, subject: "leaf", issuer: "intermediate", isAuthority: false)
    }

    func anchor() throws -> TrustAnchor { try TrustAnchor(der: root.unsigned) }

    func certificates() throws -> [Certificate] {
        [
            try Certificate(der: leaf.signed(by: leafSigner ?? intermediateKey)[...]),
            try Certificate(der: intermediate.signed(by: intermediateSigner ?? rootKey)[...]),
        ]
    }
}

struct PathCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: CertificatePathError?
    let instant: String
    let change: @Sendable (inout TestPath) throws -> Void

    init(
        _ name: String, _ error: CertificatePathError?, at instant: String = "2026-06-01T00:00:00Z",
        _ change: @escaping @Sendable (inout TestPath) throws -> Void
    ) {
        testDescription = name
        self.error = error
        self.instant = instant
        self.change = change
    }
}

struct CertificatePathTests {
    @Test("A path is good in one way, and bad in many", arguments: cases)
    func paths(_ test: PathCase) throws {
        var path = try TestPath()
        try test.change(&path)
        let instant = try #require(Instant(rfc3339: test.instant))
        let cache = VerifiedIntermediateCache()
        let verifier = CertificatePathVerifier(
            anchors: [try path.anchor()], judgedExtensions: [OID(1, 2, 3)], cache: cache)
        let certificates = try path.certificates()
        // The second time the intermediate may be remembered, which must change nothing.
        for _ in 0..<2 {
            var error: CertificatePathError?
            do {
                try verifier.verify(certificates, at: instant)
            } catch let failure {
                error = failure
            }
            #expect(error == test.error)
        }
    }

    static let cases: [PathCase] = [
        PathCase("good", nil) { _ in },
        PathCase("the first instant", nil, at: "2026-01-01T00:00:00Z") { _ in },
        PathCase("the last instant", nil, at: "2026-12-31T23:59:59Z") { _ in },
        PathCase("too early", CertificatePathError(.notYetValid, at: 0), at: "2025-12-31T23:59:59.999Z") { _ in },
        PathCase("too late", CertificatePathError(.expired, at: 0), at: "2026-12-31T23:59:59.001Z") { _ in },
        PathCase("an expired intermediate", CertificatePathError(.expired, at: 1)) {
            $0.intermediate.notAfter = "260501000000Z"
        },
        PathCase("an intermediate of the future", CertificatePathError(.notYetValid, at: 1)) {
            $0.intermediate.notBefore = "260701000000Z"
        },
        PathCase("an expired root", CertificatePathError(.expired, at: 2)) { $0.root.notAfter = "260501000000Z" },
        PathCase("a root of the future", CertificatePathError(.notYetValid, at: 2)) {
            $0.root.notBefore = "260701000000Z"
        },
        PathCase("a leaf of another issuer", CertificatePathError(.issuerMismatch, at: 0)) { $0.leaf.issuer = "root" },
        PathCase("an intermediate of another issuer", CertificatePathError(.untrusted, at: 1)) {
            $0.intermediate.issuer = "Root"
        },
        PathCase("a leaf signed by the root", CertificatePathError(.signatureInvalid, at: 0)) {
            $0.leafSigner = $0.rootKey
        },
        PathCase("a leaf signed by itself", CertificatePathError(.signatureInvalid, at: 0)) {
            $0.leafSigner = $0.leafKey
        },
        PathCase("an intermediate signed by itself", CertificatePathError(.signatureInvalid, at: 1)) {
            $0.intermediateSigner = $0.intermediateKey
        },
        PathCase("a leaf that is an authority", CertificatePathError(.leafIsAuthority, at: 0)) {
            $0.leaf.extensions = X509TestCertificate.authority()
        },
        PathCase("a leaf that signs certificates", CertificatePathError(.leafIsAuthority, at: 0)) {
            $0.leaf.extensions[1] = DER.extension(.keyUsage, true, [3, 2, 2, 0x84])
        },
        PathCase("a leaf without extensions", nil) { $0.leaf.extensions = [] },
        PathCase("an intermediate that is no authority", CertificatePathError(.notAuthority, at: 1)) {
            $0.intermediate.extensions = X509TestCertificate.leaf
        },
        PathCase("an intermediate without basic constraints", CertificatePathError(.notAuthority, at: 1)) {
            $0.intermediate.extensions.removeFirst()
        },
        PathCase("an intermediate without key usage", CertificatePathError(.keyUsageUnfit, at: 1)) {
            $0.intermediate.extensions.removeLast()
        },
        PathCase("an intermediate for other signatures", CertificatePathError(.keyUsageUnfit, at: 1)) {
            $0.intermediate.extensions[1] = DER.extension(.keyUsage, true, [3, 2, 1, 2])
        },
        PathCase("a root that wants no intermediate", CertificatePathError(.pathTooLong, at: 2)) {
            $0.root.extensions = X509TestCertificate.authority(pathLength: 0)
        },
        PathCase("an unknown extension that is not critical", nil) {
            $0.leaf.extensions.append(DER.extension(OID(1, 2, 4), false, []))
        },
        PathCase("a critical extension that the caller judges", nil) {
            $0.leaf.extensions.append(DER.extension(OID(1, 2, 3), true, []))
        },
        PathCase("an unknown critical extension of the leaf", CertificatePathError(.criticalExtensionUnknown, at: 0)) {
            $0.leaf.extensions.append(DER.extension(OID(1, 2, 4), true, []))
        },
        PathCase(
            "a critical extension of the intermediate, of the leaf's kind",
            CertificatePathError(.criticalExtensionUnknown, at: 1)
        ) {
            $0.intermediate.extensions.append(DER.extension(OID(1, 2, 3), true, []))
        },
        PathCase("an intermediate whose key is no point", CertificatePathError(.keyInvalid, at: 1)) {
            $0.intermediate.key = X509TestCertificate.keyInfo(.p384, [4] + [UInt8](repeating: 7, count: 96))
        },
    ]

    @Test(
        "An error about a validity says which, and when it was judged",
        arguments: [
            ("2027-03-01T00:00:00Z", "expired (certificate 0)"),
            ("2025-03-01T00:00:00Z", "not_yet_valid (certificate 0)"),
        ])
    func validity(_ time: String, _ error: String) throws {
        let path = try TestPath()
        let found = #expect(throws: CertificatePathError.self) {
            try CertificatePathVerifier(anchors: [try path.anchor()]).verify(
                path.certificates(), at: try #require(Instant(rfc3339: time)))
        }
        #expect(
            found?.description
                == error + ": valid from 2026-01-01T00:00:00Z to 2026-12-31T23:59:59Z, judged at \(time)")
    }

    /// What was wrong under the strict rules, and what is under those of a factory, and of a device's leaf.
    static let relaxed: [(String, PathCase, CertificatePathError?, CertificatePathError?)] = [
        ("a leaf that is over", PathCase("", nil) { $0.leaf.notAfter = "260501000000Z" }, nil, nil),
        ("a leaf of the future", PathCase("", nil) { $0.leaf.notBefore = "260701000000Z" }, nil, nil),
        (
            "an intermediate that is over", PathCase("", nil) { $0.intermediate.notAfter = "260501000000Z" }, nil,
            CertificatePathError(.expired, at: 1)
        ),
        (
            "a root that is over", PathCase("", nil) { $0.root.notAfter = "260501000000Z" }, nil,
            CertificatePathError(.expired, at: 2)
        ),
        (
            "an intermediate of the future", PathCase("", nil) { $0.intermediate.notBefore = "260701000000Z" },
            CertificatePathError(.notYetValid, at: 1), CertificatePathError(.notYetValid, at: 1)
        ),
        (
            "an intermediate that is no authority",
            PathCase("", nil) { $0.intermediate.extensions = X509TestCertificate.leaf }, nil,
            CertificatePathError(.notAuthority, at: 1)
        ),
        (
            "an intermediate without extensions", PathCase("", nil) { $0.intermediate.extensions = [] }, nil,
            CertificatePathError(.notAuthority, at: 1)
        ),
        (
            "an intermediate with what only the leaf may have",
            PathCase("", nil) { $0.intermediate.extensions = [DER.extension(OID(1, 2, 3), false, [])] },
            CertificatePathError(.leafExtensionInIssuer, at: 1), CertificatePathError(.notAuthority, at: 1)
        ),
        (
            "an intermediate that allows none below it, under another one",
            PathCase("", nil) { $0.root.extensions = X509TestCertificate.authority(pathLength: 0) },
            CertificatePathError(.pathTooLong, at: 2), CertificatePathError(.pathTooLong, at: 2)
        ),
        (
            "a leaf that is an authority", PathCase("", nil) { $0.leaf.extensions = X509TestCertificate.authority() },
            CertificatePathError(.leafIsAuthority, at: 0), CertificatePathError(.leafIsAuthority, at: 0)
        ),
        (
            "a leaf signed by itself", PathCase("", nil) { $0.leafSigner = $0.leafKey },
            CertificatePathError(.signatureInvalid, at: 0), CertificatePathError(.signatureInvalid, at: 0)
        ),
    ]

    @Test("Other rules let pass what they say, and nothing else", arguments: relaxed)
    func rules(
        _ name: String, _ test: PathCase, _ factory: CertificatePathError?, _ deviceLeaf: CertificatePathError?
    ) throws {
        var path = try TestPath()
        try test.change(&path)
        let certificates = try path.certificates()
        let relaxed: [(CertificatePathRules, CertificatePathError?)] = [
            (.factory(leafExtension: OID(1, 2, 3)), factory), (.deviceLeaf, deviceLeaf),
        ]
        for (rules, expected) in relaxed {
            let verifier = CertificatePathVerifier(
                anchors: [try path.anchor()], judgedExtensions: [OID(1, 2, 3)], rules: rules)
            var error: CertificatePathError?
            do {
                try verifier.verify(certificates, at: Instant(rfc3339: "2026-06-01T00:00:00Z") ?? Instant(seconds: 0))
            } catch let failure {
                error = failure
            }
            #expect(error == expected, "\(name)")
        }
    }

    @Test("The path length of an intermediate counts those below it")
    func pathLength() throws {
        let path = try TestPath()
        let lowerKey = try PrivateKey.generate(.ec(.p256))
        let lower = X509TestCertificate(lowerKey, subject: "lower", issuer: "intermediate", isAuthority: true)
        var leaf = path.leaf
        leaf.issuer = "lower"
        func verify(_ pathLength: UInt8?) throws {
            let upper = X509TestCertificate(
                path.intermediateKey, subject: "intermediate", issuer: "root", isAuthority: true,
                pathLength: pathLength)
            let certificates = try [
                leaf.signed(by: lowerKey), lower.signed(by: path.intermediateKey), upper.signed(by: path.rootKey),
            ].map { try Certificate(der: $0[...]) }
            try CertificatePathVerifier(anchors: [path.anchor()], cache: VerifiedIntermediateCache())
                .verify(certificates, at: Instant(seconds: 1_780_000_000))
        }
        try verify(nil)
        try verify(1)
        #expect(throws: CertificatePathError(.pathTooLong, at: 2)) { try verify(0) }
    }

    @Test func noPathAndALongPathAreRefused() throws {
        let path = try TestPath()
        let verifier = CertificatePathVerifier(anchors: [try path.anchor()])
        let instant = Instant(seconds: 1_780_000_000)
        #expect(throws: CertificatePathError(.lengthUnsupported, at: 0)) { try verifier.verify([], at: instant) }
        let many = [Certificate](repeating: try path.certificates()[1], count: 6)
        #expect(throws: CertificatePathError(.lengthUnsupported, at: 0)) { try verifier.verify(many, at: instant) }
    }

    @Test("Of two anchors with one name, the one that signed is found")
    func anchorsOfOneName() throws {
        let path = try TestPath()
        let other = try TestPath()
        let verifier = CertificatePathVerifier(anchors: [try other.anchor(), try path.anchor()])
        let found = try verifier.verify(path.certificates(), at: Instant(seconds: 1_780_000_000))
        #expect(try found.fingerprint == path.anchor().fingerprint)
    }

    @Test("Only intermediates that verified are remembered, and not more than fit")
    func cache() throws {
        let cache = VerifiedIntermediateCache(capacity: 2)
        let instant = Instant(seconds: 1_780_000_000)
        var spoilt = try TestPath()
        spoilt.intermediateSigner = spoilt.leafKey
        let spoiltVerifier = CertificatePathVerifier(anchors: [try spoilt.anchor()], cache: cache)
        #expect(throws: CertificatePathError.self) { try spoiltVerifier.verify(spoilt.certificates(), at: instant) }
        #expect(cache.count == 0)
        for expected in [1, 2, 2, 2] {
            let path = try TestPath()
            let verifier = CertificatePathVerifier(anchors: [try path.anchor()], cache: cache)
            try verifier.verify(path.certificates(), at: instant)
            #expect(cache.count == expected)
        }
    }

    @Test("What one anchor's intermediate proved is not taken for another's")
    func cacheIsBoundToTheAnchor() throws {
        let cache = VerifiedIntermediateCache()
        let instant = Instant(seconds: 1_780_000_000)
        let path = try TestPath()
        let other = try TestPath()
        let certificates = try path.certificates()
        try CertificatePathVerifier(anchors: [path.anchor()], cache: cache).verify(certificates, at: instant)
        let verifier = CertificatePathVerifier(anchors: [try other.anchor()], cache: cache)
        #expect(throws: CertificatePathError(.signatureInvalid, at: 1)) {
            try verifier.verify(certificates, at: instant)
        }
    }
}
