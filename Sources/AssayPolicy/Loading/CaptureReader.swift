internal import AssayCore
internal import AssayCrypto
internal import AssayYAML

/// Reads the section `capture`, and the key of the same name of an app.
enum CaptureReader {
    static let key = "capture"

    static func read(_ value: YAMLValue) -> CapturePolicy? {
        guard let section = value.mapping() else { return nil }
        defer { section.finish() }
        var limits = CaptureLimits()
        let key = section.required("public_key").map { publicKey($0) } ?? .unknown
        let decisions = section.optional("decisions").flatMap { self.decisions($0) } ?? .refused
        if let size = section.optional("max_evidence").flatMap({ bytes($0, CapturePolicy.evidenceLimits) }) {
            limits.evidence = size
        }
        if let size = section.optional("max_size").flatMap({ bytes($0, CapturePolicy.sizeLimits) }) {
            limits.size = size
        }
        if let value = section.optional("max_age"), let age = value.decode(Duration.self) {
            if CapturePolicy.ageLimits.contains(age) {
                limits.age = age
            } else {
                value.report("expected a duration from 1h to 3650d")
            }
        }
        return CapturePolicy(decisions: decisions, limits: limits, location: value.location, key: key)
    }

    static func decisions(_ value: YAMLValue) -> CapturePolicy.Decisions? {
        guard let name = value.decode(String.self) else { return nil }
        guard let decisions = CapturePolicy.Decisions(exactly: name) else {
            value.report(
                "expected refused, all or none",
                hint: Spelling.hint(for: name, among: CapturePolicy.Decisions.allCases.map(\.rawValue)))
            return nil
        }
        return decisions
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

    /// A number of bytes: `65536`, `64KiB`, `1GiB`.
    private static func bytes(_ value: YAMLValue, _ range: ClosedRange<Int>) -> Int? {
        guard let text = value.decode(String.self) else { return nil }
        guard let count = ByteCount.parse(text), range.contains(count) else {
            value.report(
                "expected a number of bytes from \(ByteCount.text(range.lowerBound)) to "
                    + "\(ByteCount.text(range.upperBound)), such as 65536 or 64KiB")
            return nil
        }
        return count
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
