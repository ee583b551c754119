internal import AssayAndroid
public import AssayCore
public import AssayCrypto

/// Verifies stored chains of Android keys, as `assay verify android-key` does.
///
/// A sample is a JSON object: `chain_base64` (each certificate in DER, the key's own first) or `chain_pem`; `package` and
/// `signing_digests`; `challenge_base64` or `challenge_utf8`; `valid_at`. Other members are notes.
public struct AndroidKeySamples: Sendable {
    /// A sample that is not of the form.
    public struct Malformed: Error, Sendable, CustomStringConvertible {
        /// What is wrong.
        @Exact public private(set) var description: String

        init(_ description: String) {
            self.description = description
        }
    }

    private let verifier: AndroidKeyVerifier
    private let revoked: RevocationList?
    private let time: Instant?
    private let accepting: AndroidKeyConfiguration

    /// - Parameters:
    ///   - roots: what chains must lead to; Google's roots when nil.
    ///   - revoked: a list of revoked certificates; nil for none.
    ///   - time: when all samples are judged; nil for the time of each.
    /// - Throws: `CertificateError` for Google's roots.
    public init(roots: [TrustAnchor]?, revoked: RevocationList?, at time: Instant?) throws(CertificateError) {
        if let roots { verifier = AndroidKeyVerifier(roots: roots) } else { verifier = try AndroidKeyVerifier() }
        self.revoked = revoked
        self.time = time
        accepting = AndroidKeyConfiguration()
    }

    /// Judges a sample as a policy without settings does, with keys of any kind.
    ///
    /// - Returns: whether it is good, and what is said of it: `verdict`, `reason`, `detail` and `facts`.
    public func verify(_ sample: JSON) throws(Malformed) -> (isVerified: Bool, report: JSON) {
        let identity = try Self.identity(of: sample)
        let (chain, challenge) = (try Self.chain(of: sample), try Self.challenge(of: sample))
        guard let now = time ?? sample["valid_at"]?.string.flatMap({ Instant(rfc3339: $0) }) else {
            throw Malformed("`valid_at` is not a time, such as 2026-12-31T23:59:59Z")
        }
        var facts: [Fact] = []
        do throws(AndroidKeyRefusal) {
            let rules = try Self.rules(accepting, identity)
            let chain = try AndroidChain(der: chain)
            facts = AndroidKeyFacts.of(chain)
            let device = try rules.judge(chain, challenge: challenge)
            facts = AndroidKeyFacts.of(device, bootKeyName: nil, at: now) + AndroidKeyFacts.beside(chain)
            try rules.judge(device, at: now)
            if let status = revoked?.status(of: device.revocationNames) {
                throw AndroidKeyRefusal(AndroidKeyReasons.revoked, status.word)
            }
            try verifier.verify(chain, at: now)
            return (true, Self.report(nil, facts))
        } catch {
            return (false, Self.report(error, facts))
        }
    }

    private static func rules(
        _ configuration: AndroidKeyConfiguration, _ identity: AndroidIdentity
    ) throws(AndroidKeyRefusal) -> AndroidKeyRules {
        do throws(ConfigurationError) {
            return try AndroidKeyRules(configuration, identity)
        } catch {
            throw AndroidKeyRefusal(AndroidKeyReasons.keyProperties, "\(error)")
        }
    }

    private static func report(_ refusal: AndroidKeyRefusal?, _ facts: [Fact]) -> JSON {
        let members: [JSONMember] = facts.map { fact in
            let value: JSON =
                switch fact.value {
                case .integer(let number): .integer(number)
                case .bool(let value): .bool(value)
                default: .string("\(fact.value)")
                }
            return JSONMember(fact.name.text, value)
        }
        return [
            "verdict": .string(refusal == nil ? "verified" : "refused"),
            "reason": refusal.map { .string($0.reason.code) } ?? nil,
            "detail": refusal?.detail.map { .string($0) } ?? nil, "facts": .object(members),
        ]
    }

    // MARK: - Fields

    private static func identity(of sample: JSON) throws(Malformed) -> AndroidIdentity {
        guard let package = sample["package"]?.string else { throw Malformed("`package` is missing") }
        let texts = sample["signing_digests"]?.array?.map(\.string) ?? []
        let digests = texts.compactMap { $0.flatMap { SHA256Digest.bytes(of: $0) } }
        guard !digests.isEmpty, digests.count == texts.count else {
            throw Malformed("`signing_digests` is not a list of SHA-256 digests in hexadecimal")
        }
        return AndroidIdentity(package: package, signingDigests: digests)
    }

    private static func chain(of sample: JSON) throws(Malformed) -> [[UInt8]] {
        if let pem = sample["chain_pem"]?.string {
            guard let blocks = try? PEM.blocks("CERTIFICATE", in: Array(pem.utf8)), !blocks.isEmpty else {
                throw Malformed("`chain_pem` has no certificates in PEM")
            }
            return blocks
        }
        let texts = sample["chain_base64"]?.array?.map(\.string) ?? []
        let chain = texts.compactMap { $0.flatMap { Base64.decode($0) } }
        guard !chain.isEmpty, chain.count == texts.count else {
            throw Malformed("`chain_base64` is not a list of certificates in Base64")
        }
        return chain
    }

    private static func challenge(of sample: JSON) throws(Malformed) -> [UInt8] {
        if let text = sample["challenge_utf8"]?.string { return Array(text.utf8) }
        guard let challenge = sample["challenge_base64"]?.string.flatMap({ Base64.decode($0) }) else {
            throw Malformed("`challenge_base64` or `challenge_utf8` is missing")
        }
        return challenge
    }
}
