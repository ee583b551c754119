public import AssayCore
public import AssayKit

/// Tokens for Google's Fleet Engine (Mobility services: on-demand trips and scheduled tasks), for apps with an App
/// Check token and users whose vehicle, trip or shipment the policy determines.
///
/// Tokens come from token exchange, and from the paths that Google's sample apps call.
public struct FleetEngineConsumer: TokenConsumer {
    /// The plugin's name in policies, with its reasons, facts and metrics.
    public static let descriptor = PluginDescriptor.consumer(
        name: "fleet_engine", version: AssayVersion.text, summary: "Tokens for Google's Fleet Engine.",
        stability: .stable,
        posture: SecurityPosture(
            proves: """
                A token for Fleet Engine goes to a client with a valid App Check token, for the role and the IDs that the policy's \
                rule, the claims of the user's token or the operator's backend allow. Google enforces what the token covers.
                """,
            trusts: [
                "the provider that issued the App Check token",
                "the issuers of users' tokens in `actors`, where a rule reads claims of them",
                "the operator's backend, where a rule has a callback",
                "whoever holds the keys of the Google Cloud service accounts that the policy names",
            ]),
        reasons: FleetEngineReasons.all, facts: [.fleetEngineRole, .fleetEngineIDs], metrics: FleetEngineMetrics.all,
        // A rule asks its callback once. The tokens are signed by accounts of Google Cloud, not by this service.
        limits: PluginLimits(
            evidence: 32 * 1024, concurrentCalls: 10_000, outboundCalls: 1, storeWrites: 0, reply: 64 * 1024),
        execution: .shared)

    /// What was decided of a request.
    enum Outcome: Sendable {
        case granted(FleetEngineToken, facts: [Fact])
        case refused(Reason, detail: String)
    }

    /// The audiences whose tokens the consumer issues or checks.
    public let audiences: [String]
    let exchange: FleetEngineExchange
    /// Whose tokens `/token/fleet_reader` gives.
    let readerRole: FleetEngineRole
    private let minter: FleetEngineMinter
    private let rules: FleetEngineRules
    private let meter: Meter

    /// Makes the consumer for its scope from its section of a policy.
    ///
    /// - Throws: `ConfigurationError` with the key that is wrong.
    public init(
        _ configuration: FleetEngineConfiguration, scope: ConsumerScope, host: PluginHost
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        let provider = configuration.providerID ?? scope.project.id
        if configuration.providerID.map({ !Self.isProvider($0) }) ?? false {
            problems.report(at: ["provider_id"], "expected the ID of a Google Cloud project")
        }
        let audience = configuration.audience ?? FleetEngineMinter.standardAudience
        if !(1...2048).contains(audience.utf8.count) || !audience.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            problems.report(at: ["audience"], "expected one word, such as \(FleetEngineMinter.standardAudience)")
        }
        let lifetime = configuration.tokenTTL ?? FleetEngineMinter.lives.upperBound
        if !FleetEngineMinter.lives.contains(lifetime) {
            problems.report(at: ["token_ttl"], "expected 10m to 1h: Fleet Engine does not accept longer lifetimes")
        }
        let read = problems.attempt { () throws(ConfigurationError) in
            try FleetEngineRules(configuration, knowsActors: scope.knowsActors, host: host)
        }
        readerRole = configuration.fleetReaderRole?.role ?? .deliveryFleetReader
        if configuration.fleetReaderRole != nil, configuration.roles.rules[readerRole] == nil {
            problems.report(at: ["fleet_reader_role"], "`roles` has no rule for `\(readerRole.rawValue)`")
        }
        try problems.throwIfAny()
        guard let read else { throw ConfigurationError(at: ["roles"], "the rules cannot be read") }
        rules = read
        audiences = [audience]
        exchange = FleetEngineExchange(provider: provider, audience: audience)
        minter = FleetEngineMinter(audience: audience, lifetime: lifetime)
        meter = host.meter
    }

    /// A token with these claims, if the role's rule allows it.
    ///
    /// - Throws: what keeps it from being decided.
    func token(_ claims: FleetEngineClaims, _ context: ConsumerContext) async throws -> Outcome {
        let role = claims.role.rawValue
        guard let rule = rules[claims.role] else {
            return .refused(FleetEngineReasons.role, detail: "\(role) \(claims.summary)")
        }
        do {
            try await rule.check(claims, context)
        } catch let refusal as FleetEngineRule.Refusal {
            return .refused(refusal.reason, detail: refusal.detail)
        }
        let (token, isReused) = try minter.mint(claims, by: rule.account, at: context.now)
        meter.add(to: FleetEngineMetrics.tokens, role, isReused ? "reused" : "minted")
        return .granted(
            token,
            facts: [Fact(.fleetEngineRole, .text(role)), Fact(.fleetEngineIDs, cutting: claims.summary)])
    }

    private static func isProvider(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-.:".utf8.contains($0) }
    }
}
