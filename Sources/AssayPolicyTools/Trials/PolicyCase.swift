internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// One test of policies, read and typed.
struct PolicyCase: Sendable {
    let name: String
    let location: SourceLocation
    let question: Question
    let expectation: Expectation

    /// What is asked of the policies.
    enum Question: Sendable {
        /// Whether rules accept facts.
        case facts(Subject, [Fact])
        /// Whether rules accept the facts of a decision that was made.
        ///
        case decision(Subject, DecidedEvidence)
        /// Whether evidence of a simulated device is accepted.
        case device(Subject, DeviceOrder)
        /// Whether a caller may call a method.
        case permission(PermissionQuestion)
        /// Whether a request of a proxy's client is allowed.
        case request(RequestOrder)
    }

    /// The name of the form, as its key in a file.
    var form: String {
        switch question {
        case .facts: "facts"
        case .decision: "decision"
        case .device: "device"
        case .permission: "caller"
        case .request: "request"
        }
    }
}

/// The app and the provider that a test is about.
struct Subject: Sendable {
    let app: AppPolicy
    let provider: ProviderPolicy
    let descriptor: PluginDescriptor
    /// The app's rules for evidence of the provider.
    let rules: RuleSet
}

/// What a record says of evidence.
struct DecidedEvidence: Sendable {
    let facts: [Fact]
    /// Why the provider refused it, or an entry that administrators added to the server; nil if policies were asked.
    let reason: Reason?
    /// Whether its token was for limited use; false for refused evidence.
    let limitedUse: Bool
}

/// A device that a test describes, and what happens to its evidence.
struct DeviceOrder: Sendable {
    /// Nil if the program has none for the provider.
    let simulator: (any EvidenceSimulator)?
    let method: String
    let device: [ExactText: Fact.Value]
    let changes: [ExactText: ExactText]
    let limitedUse: Bool
    /// Nil for the time when the tests run.
    let time: Instant?
}

/// A caller that wants to call a method.
struct PermissionQuestion: Sendable {
    let caller: Caller
    let method: MethodDescriptor
    let permission: Permission
    /// The project of the resource, or of the consumer that answers; nil for an unknown one.
    let project: ProjectIdentity?
}

/// An expected value, with its place.
struct Expected<Value: Sendable>: Sendable {
    let value: Value
    let node: YAMLNode
    let path: YAMLPath

    init(_ value: Value, at place: YAMLValue) {
        self.value = value
        node = place.node
        path = place.path
    }

    /// What was found instead, at the place of the expectation.
    func mismatch(_ expected: String, _ found: String, hint: String? = nil) -> Diagnostic {
        node.diagnostic("expected \(expected), found \(found)", path: path, hint: hint)
    }
}

/// What a test expects: the section `expect`.
enum Expectation: Sendable {
    case permission(Expected<PolicyFinding.Permission>)
    case verdict(VerdictExpectation)
}

/// What a test expects of evidence.
struct VerdictExpectation: Sendable {
    var verdict: Expected<PolicyFinding.Verdict>
    var reason: Expected<String>?
    /// Of the value nil: that no rule decides.
    var rule: Expected<String?>?
    var marks: Expected<[String]>?
    var wouldRefuse: Expected<[String]>?
    var lifetime: Expected<Duration>?
    var limitedUse: Expected<Bool>?
    /// The claims by their names; null for one that the token must not have.
    var claims: [(name: String, value: Expected<JSON>)] = []
}
