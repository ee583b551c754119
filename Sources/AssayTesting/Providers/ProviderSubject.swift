public import AssayCore
public import AssayEngine
public import AssayPolicyTools

/// What ``AttestationProviderSuite`` needs to know of a provider, from its author.
public struct ProviderSubject: Sendable {
    /// A method that exchanges evidence for a token, and the simulated device that makes genuine evidence for it.
    public struct Exchange: Sendable {
        /// The method: `exchangeDoorLockCode`.
        public var method: String
        /// The method that makes its challenges; nil for evidence without one.
        public var challengeMethod: String?
        /// How long evidence is good after it was made; nil when only its challenge ends, or nothing does.
        public var lifetime: Duration?
        /// How long used evidence must stay used, where others end it then, such as its vendor; nil where it must be refused ever after.
        public var remembered: Duration?
        /// Why the same evidence may be accepted more than once; nil when it may not.
        public var reuse: String?
        /// Why evidence does not tell when it was made, so that it is good once more after the state was lost; nil when it does,
        /// or is made for a challenge.
        public var untimed: String?
        /// Why evidence for one app may be accepted for another one; nil when it may not.
        public var sharing: String?
        /// The fields at the top of a request that may change without a refusal, each with the reason, such as that
        /// nothing relies on it.
        public var open: [String: String]
        /// Evidence that must be refused, or why it cannot be made: each kind of ``Adversary/ofProviders``, and any kinds of the
        /// provider's own.
        public var adversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>]
        /// Further genuine requests, each after what is special in it, for verdicts and facts that ``request`` does not lead to.
        public var variants: [String: @Sendable (TestDevice) async throws -> JSON]
        /// The default, which modules without dictionaries of their own can use.
        @usableFromInline static let noVariants: [String: @Sendable (TestDevice) async throws -> JSON] = [:]
        /// Makes the body of a genuine request.
        public var request: @Sendable (TestDevice) async throws -> JSON

        /// Describes an exchange.
        public init(
            _ method: String, challengeMethod: String? = nil, lifetime: Duration? = nil, remembered: Duration? = nil,
            reuse: String? = nil, untimed: String? = nil, sharing: String? = nil,
            open: [String: String] = [:],
            adversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>] = [:],
            variants: [String: @Sendable (TestDevice) async throws -> JSON] = Exchange.noVariants,
            request: @escaping @Sendable (TestDevice) async throws -> JSON
        ) {
            self.method = method
            self.challengeMethod = challengeMethod
            self.lifetime = lifetime
            self.remembered = remembered
            self.reuse = reuse
            self.untimed = untimed
            self.sharing = sharing
            self.open = open
            self.adversaries = adversaries
            self.variants = variants
            self.request = request
        }
    }

    /// The exchanges of the provider.
    public var exchanges: [Exchange]
    /// The provider's section in the policy of an app, as YAML from its first column; it accepts that app's devices.
    public var section: @Sendable (TestApp) -> String
    /// Sections that must be refused, each with `# wrong` at the end of the line that the error must name.
    public var wrongSections: [String]
    /// Further keys of an app, as YAML from the first column: `apple: {…}`.
    public var app: @Sendable (TestApp) -> String
    /// The platform in the IDs of apps.
    public var platform: String
    /// Where the provider's secrets come from.
    public var secrets: SecretSource
    /// Further texts that must not appear in messages, records and logs; what `secrets` gave is looked for in any case, as text, in
    /// hexadecimal digits and in Base 64.
    public var secretTexts: [String]
    /// The genuine answers of other servers; nil for a provider that calls none.
    public var upstream: (@Sendable (OutboundRequest) async -> OutboundResponse)?
    /// How those servers say "no", each of which must be a refusal with a declared reason.
    public var denials: [UpstreamDenial]
    /// Why those servers never say "no"; nil when they do, or for a provider that calls none.
    public var noDenials: String?
    /// What those servers say when nothing is to be decided, such as that the operator's secret is wrong.
    public var undecided: [UpstreamDenial]
    /// Members of the genuine answers, such as `result.score`, that may be absent or have any value, each with the reason, such
    /// as that nothing relies on it.
    public var optionalMembers: [String: String]
    /// The default, which modules without dictionaries of their own can use.
    @usableFromInline static let noOptionalMembers: [String: String] = [:]
    /// Makes evidence for tests of policies (`assay policy test`); nil if the provider has no simulated devices for them.
    public var simulator: (any EvidenceSimulator)?

    /// Describes a provider.
    public init(
        exchanges: [Exchange], section: @escaping @Sendable (TestApp) -> String, wrongSections: [String] = [],
        app: @escaping @Sendable (TestApp) -> String = { _ in "" }, platform: String = "ios",
        secrets: SecretSource = SecretSource { _ in nil }, secretTexts: [String] = [],
        upstream: (@Sendable (OutboundRequest) async -> OutboundResponse)? = nil,
        denials: [UpstreamDenial] = [], noDenials: String? = nil, undecided: [UpstreamDenial] = [],
        optionalMembers: [String: String] = ProviderSubject.noOptionalMembers, simulator: (any EvidenceSimulator)? = nil
    ) {
        self.simulator = simulator
        self.denials = denials
        self.noDenials = noDenials
        self.undecided = undecided
        self.optionalMembers = optionalMembers
        self.exchanges = exchanges
        self.section = section
        self.wrongSections = wrongSections
        self.app = app
        self.platform = platform
        self.secrets = secrets
        self.secretTexts = secretTexts
        self.upstream = upstream
    }
}

/// A simulated device that is to make a genuine request.
public struct TestDevice: Sendable {
    /// The app that the request is for.
    public let app: TestApp
    /// Which device it is: 0, 1 and so on; different ones have different keys where the provider knows keys.
    public let number: Int
    /// The challenge; empty for an exchange without one.
    public let challenge: [UInt8]
    /// The present time.
    public let now: Instant
    /// Makes another call before, such as an attestation before an assertion, and returns its reply.
    public let call: @Sendable (_ method: String, _ body: JSON) async throws -> JSON
    /// Makes a challenge.
    public let makeChallenge: @Sendable (_ method: String) async throws -> [UInt8]
}
