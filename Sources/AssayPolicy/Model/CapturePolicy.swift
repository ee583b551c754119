package import AssayCore
package import AssayCrypto
public import AssayYAML

/// Which evidence is captured, who can read it, and how long it is kept: the section `capture`, which may be in only one
/// file.
public struct CapturePolicy: Sendable {
    /// The exchanges whose evidence is captured.
    @nonexhaustive public enum Decisions: String, Decodable, Sendable, Hashable, CaseIterable {
        /// Those that were refused.
        case refused
        /// Those that were refused and those that obtained a token.
        case all
        /// None.
        case none
    }

    /// What is captured of apps that do not say it themselves.
    public let decisions: Decisions
    /// The bounds of what is kept.
    public let limits: CaptureLimits
    /// The place of the section in its file.
    public let location: SourceLocation
    let key: Key

    /// Where the public key is.
    enum Key: Sendable {
        case recipient(JWERecipient)
        case reference(SecretReference, YAMLNode, YAMLPath)
        /// The policy is wrong, which was reported.
        case unknown
    }

    /// The key that evidence is encrypted for.
    ///
    /// - Throws: why it cannot be read, at its place; nil when the policy has another error.
    package func recipient(_ secrets: SecretSource) throws(Diagnostics) -> JWERecipient? {
        switch key {
        case .unknown: return nil
        case .recipient(let recipient): return recipient
        case .reference(let reference, let node, let path):
            let sink = DiagnosticSink()
            let value = YAMLValue(node, path: path, sink: sink)
            do throws(SecretError) {
                let text = try secrets.pem(reference, isSecret: false)
                if let recipient = CaptureSection.recipient(text, of: value) { return recipient }
            } catch {
                value.report(error.message)
            }
            try sink.throwIfAny()
            return nil
        }
    }
}

/// The bounds of captured evidence.
public struct CaptureLimits: Sendable, Hashable {
    /// The largest record, in bytes before it is encrypted.
    public var evidence: Int
    /// The size of all records, in bytes.
    public var size: Int
    /// How long a record is kept.
    public var age: Duration

    /// By default a record has 64 KiB, all of them 1 GiB, and they are kept for 7 days.
    public init(evidence: Int = 65_536, size: Int = 1 << 30, age: Duration = .seconds(7 * 86_400)) {
        self.evidence = evidence
        self.size = size
        self.age = age
    }
}
