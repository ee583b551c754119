internal import AssayCore
internal import AssayCrypto
internal import AssayYAML

/// The section `capture`.
struct CaptureSection: DescribedConfiguration {
    let publicKey: String
    let decisions: CapturePolicy.Decisions?
    let maxEvidence: String?
    let maxSize: String?
    let maxAge: Duration?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case publicKey = "public_key"
        case decisions
        case maxEvidence = "max_evidence"
        case maxSize = "max_size"
        case maxAge = "max_age"
    }

    static let keys: [ExactText: PolicyKey] = [
        "public_key": PolicyKey(
            """
            The public key on P-256 that evidence is encrypted for: `file:PATH` of a PEM file, or its text. The \
            private key must not be on the server.
            """, .pattern("^(file:|env:|-----BEGIN PUBLIC KEY-----)"), examples: ["file:/etc/assay/capture.pub.pem"]),
        "decisions": PolicyKey(
            "Which evidence is captured, of apps that do not say it themselves.",
            standard: .string(CapturePolicy.Decisions.refused.rawValue)),
        "max_evidence": bytes(
            "The largest record, before it is encrypted. The request message of a larger one is left out.",
            1024...1 << 20, standard: CaptureLimits().evidence),
        "max_size": bytes(
            "The size of all records; the oldest are deleted beyond it.", 1 << 20...1 << 40,
            standard: CaptureLimits().size),
        "max_age": PolicyKey(
            "How long records are kept at most; up to an hour less.",
            .durations(.seconds(3600)...(.seconds(3650 * 86_400))),
            standard: .string(DurationText.text(CaptureLimits().age))
        ).enforced(),
    ]

    /// A key whose value is a number of bytes: `65536`, `64KiB`, `1GiB`.
    private static func bytes(_ text: String, _ range: ClosedRange<Int>, standard: Int) -> PolicyKey {
        PolicyKey(
            text, .pattern(ByteCount.pattern), standard: .string(ByteCount.text(standard)),
            examples: [.string(ByteCount.text(standard))]
        ).enforced(
            "expected a number of bytes from \(ByteCount.text(range.lowerBound)) to "
                + "\(ByteCount.text(range.upperBound)), such as 65536 or 64KiB"
        ) { ByteCount.parse($0).map(range.contains) ?? false }
    }

    private var limits: CaptureLimits {
        var limits = CaptureLimits()
        if let size = maxEvidence.flatMap(ByteCount.parse) { limits.evidence = size }
        if let size = maxSize.flatMap(ByteCount.parse) { limits.size = size }
        if let maxAge { limits.age = maxAge }
        return limits
    }
}

extension CaptureSection {
    /// Reads the section; nil when it is no mapping, which is reported.
    static func read(_ value: YAMLValue) -> CapturePolicy? {
        let section = value.decode(CaptureSection.self)
        guard value.node.entries != nil else { return nil }
        let key = value.member(CodingKeys.publicKey.rawValue).map { publicKey($0) } ?? .unknown
        return CapturePolicy(
            decisions: section?.decisions ?? .refused, limits: section?.limits ?? CaptureLimits(),
            location: value.location, key: key)
    }

    private static func publicKey(_ value: YAMLValue) -> CapturePolicy.Key {
        guard let text = value.decode(String.self) else { return .unknown }
        if let reference = SecretReference(text) { return .reference(reference, value.node, value.path) }
        guard PEMText.isPEM(text) else {
            value.report("expected file:PATH of a public key in PEM, or the text of one")
            return .unknown
        }
        return recipient(Array(text.utf8), of: value).map { .recipient($0) } ?? .unknown
    }

    /// The key in a PEM text; nil for any other text, which is reported.
    static func recipient(_ text: [UInt8], of value: YAMLValue) -> JWERecipient? {
        guard !PEMText.isPrivate(text) else {
            value.report(
                "is a private key, which the server must not have",
                hint: "put the public key here, and keep the private one on another machine")
            return nil
        }
        do throws(CryptoError) {
            return try JWERecipient(PublicKey(pem: text))
        } catch {
            value.report("expected a public key on P-256 in PEM (BEGIN PUBLIC KEY): \(error.message)")
            return nil
        }
    }
}

/// Numbers of bytes as policies write them.
enum ByteCount {
    private static let units: [(name: String, bytes: Int)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10),
    ]
    /// The form of the text, as a regular expression.
    static let pattern = "^[1-9][0-9]{0,14}(KiB|MiB|GiB|TiB)?$"

    /// The number of a text such as `64KiB`; nil for any other text.
    static func parse(_ text: String) -> Int? {
        let unit = units.first { text.ends(withExactly: $0.name) }
        let digits = text.utf8.dropLast(unit?.name.utf8.count ?? 0)
        guard (1...15).contains(digits.count), digits.allSatisfy(\.isASCIIDigit), digits.first != UInt8(ascii: "0")
        else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit?.bytes ?? 1)
        return overflow ? nil : bytes
    }

    /// `64KiB`; bytes where no unit fits.
    static func text(_ bytes: Int) -> String {
        guard let unit = units.first(where: { bytes >= $0.bytes && bytes % $0.bytes == 0 }) else { return "\(bytes)" }
        return "\(bytes / unit.bytes)\(unit.name)"
    }
}

/// The two kinds of PEM text that can be mistaken for each other.
private enum PEMText {
    static func isPEM(_ text: String) -> Bool { text.starts(withExactly: "-----BEGIN ") }

    /// Whether there is a private key in a text.
    static func isPrivate(_ text: [UInt8]) -> Bool {
        let mark = Array("PRIVATE KEY-----".utf8)
        guard text.count >= mark.count else { return false }
        return (0...text.count - mark.count).contains { text[$0..<$0 + mark.count].elementsEqual(mark) }
    }
}
