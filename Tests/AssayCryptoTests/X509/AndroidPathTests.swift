import AssayCore
import AssayCrypto
import AssayTestSupport
import Testing

/// Chains of real Android devices under Google's roots, judged as of today: long after many of their certificates ended.
@Suite(
    "Certificates that factories put into Android devices", .enabled(if: SharedFiles.has("fixtures/android")))
struct AndroidPathTests {
    private static let chains = SharedFiles.list("fixtures/android/chains", ending: ".pem")
    /// The extension with the attestation, which the key's own certificate alone has.
    private static let attestation = OID(1, 3, 6, 1, 4, 1, 11129, 2, 1, 17)
    private static let today = Instant(rfc3339: "2026-11-28T12:00:00Z") ?? Instant(seconds: 0)

    private static func anchors() throws -> [TrustAnchor] {
        let roots = try JSON.parse(SharedFiles.bytes("fixtures/android/roots/google-roots.json"))
        return try (roots.array ?? []).map { root in
            try TrustAnchor(der: PEM.decode("CERTIFICATE", in: Array((root.string ?? "").utf8)))
        }
    }

    private static func error(_ path: [Certificate], _ rules: CertificatePathRules) throws -> CertificatePathError? {
        do throws(CertificatePathError) {
            try CertificatePathVerifier(anchors: (try? anchors()) ?? [], rules: rules)
                .verify(path, at: today)
            return nil
        } catch {
            return error
        }
    }

    @Test("A chain under Google's root is good by the rules of factories, and few are by the strict ones")
    func chains() throws {
        var counts = (good: 0, strict: 0)
        var refused: [String] = []
        for name in Self.chains {
            let facts = try JSON.parse(SharedFiles.bytes(name.replacing(".pem", with: ".json")))
            let isGoogles = facts["google_root"]?.string != nil && facts["signatures_ok"]?.bool == true
            guard let chain = try? Certificate.chain(pem: SharedFiles.bytes(name)), chain.count > 1 else {
                if isGoogles { refused.append("\(name): unreadable") }
                continue
            }
            let path = Array(chain.dropLast())
            let error = try Self.error(path, .factory(leafExtension: Self.attestation))
            if isGoogles, let error { refused.append("\(name): \(error)") }
            #expect(isGoogles || error != nil, "\(name)")
            counts.good += error == nil ? 1 : 0
            counts.strict += try Self.error(path, .strict) == nil ? 1 : 0
        }
        // Some devices name another issuer in the leaf than the next subject; others have post-quantum keys, or are not DER.
        let known = ["issuer_mismatch (certificate 0)", "unreadable"]
        #expect(refused.filter { name in !known.contains { name.hasSuffix($0) } } == [])
        #expect(refused.count < 10, "\(refused)")
        #expect(counts.good > counts.strict + 20, "\(counts)")
    }

    @Test("An attested key is no issuer, although no certificate need say that it is one")
    func extended() throws {
        for name in Self.chains.prefix(10) {
            guard let chain = try? Certificate.chain(pem: SharedFiles.bytes(name)), chain.count == 4 else { continue }
            // What it would have signed does not matter: it is refused before signatures are looked at.
            #expect(
                try Self.error([chain[0], chain[0], chain[1], chain[2]], .factory(leafExtension: Self.attestation))
                    == CertificatePathError(.leafExtensionInIssuer, at: 1), "\(name)")
        }
    }
}
