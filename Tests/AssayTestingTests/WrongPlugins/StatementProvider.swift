import AssayCore
import AssayCrypto
import AssayKit

/// What a wrong provider does.
enum Flaw: String, Sendable, CaseIterable {
    case none
    case trustsTheBeginningOfACode
    case trustsPartOfACode
    case ignoresTheApp
    case ignoresTheProject
    case acceptsEvidenceAgain
    case ignoresTheTime
    case namesTheSecret
    case tellsTheSecretInDigits
    case statesTheSecret
    case refusesWhenTheVendorIsDown
    case acceptsWithoutTheStore
    case refusesWithAnUnknownReason
    case refusesAtRandom
    case leavesAKeyUndescribed
    case doesNotPlaceAnError
    case believesAnyAnswer
    case takesAWrongSecretForARefusal
    case takesAnOutageForARefusal
    case readsAnswersWithoutLimit
    case takesANoForAFault
    case ignoresTheStatus
    case trustsAMissingMember
    case takesAnErrorForARefusal
    case quotesAnswers
    case forgetsBeforeTheEnd
    case usesInOneApp
    case forgetsWithTheState
    case declaresMore
    case neverEnds
    /// No flaw: a statement is good for all apps of a project.
    case sharesInProject
}

/// Chooses the flaw of a provider by its type, since providers are types.
protocol Flawed: Sendable {
    static var flaw: Flaw { get }
}

/// The section of a ``StatementProvider``.
protocol StatementSection: Decodable, Sendable {
    var clients: [StatementClient] { get }
}

struct StatementClient: DescribedConfiguration, Sendable {
    let name: String
    let key: SecretReference

    static let keys: [ExactText: PolicyKey] = [
        "name": "What the client calls itself.", "key": "Where the client's key is.",
    ]
}

struct DescribedSection: DescribedConfiguration, StatementSection {
    let clients: [StatementClient]

    static let keys: [ExactText: PolicyKey] = ["clients": "The clients that are trusted."]
}

struct UndescribedSection: StatementSection {
    let clients: [StatementClient]
}

/// A provider whose clients sign a statement about the app, the time and a nonce with a key of their own, while a vendor
/// says whether the client is still one.
struct StatementProvider<F: Flawed, Section: StatementSection>: AttestationProvider {
    struct Request: RequestMessage {
        let client: String
        let statement: [UInt8]
        let code: [UInt8]

        init(_ fields: RequestFields) throws(InvalidRequest) {
            client = try fields.string("client")
            statement = try fields.bytes("statement")
            code = try fields.bytes("code")
        }
    }

    static var flaw: Flaw { F.flaw }
    static var refused: Reason {
        Reason("statement_refused", "The statement is not the client's, or not for here and now.")
    }
    static var descriptor: PluginDescriptor {
        PluginDescriptor.provider(
            name: "statement", version: "1.0.0", summary: "Clients that sign statements.",
            posture: SecurityPosture(proves: "The client holds a key.", trusts: ["whoever holds the key"]),
            reasons: [refused] + (flaw == .declaresMore ? [Reason("statement_never", "It is never said.")] : []),
            facts: [FactName("statement_client")] + (flaw == .declaresMore ? [FactName("statement_mood")] : []),
            limits: PluginLimits(evidence: 2048, outboundCalls: 2, storeWrites: 2))
    }
    static var methods: [ProviderMethod<Self>] {
        [.exchange("exchangeStatement") { provider, request, context in try await provider.appraise(request, context) }]
    }

    private let keys: [ExactText: (key: HMACSHA256, secret: [UInt8])]
    private let host: PluginHost

    init(_ configuration: Section, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        var keys: [ExactText: (key: HMACSHA256, secret: [UInt8])] = [:]
        for (index, client) in configuration.clients.enumerated() {
            guard let key = try? host.secrets.resolve(client.key) else {
                throw Self.flaw == .doesNotPlaceAnError
                    ? ConfigurationError("a key cannot be read")
                    : ConfigurationError(at: ["clients", .index(index), "key"], "the key cannot be read")
            }
            keys[ExactText(client.name)] = (HMACSHA256(key: key), key)
        }
        self.keys = keys
        self.host = host
    }

    private func appraise(_ request: Request, _ context: ProviderContext) async throws -> Verdict {
        if Self.flaw == .neverEnds { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
        if Self.flaw == .refusesAtRandom, host.randomness.bytes(1)[0] < 96 { return .refused(Self.refused) }
        guard let (key, secret) = keys[ExactText(request.client)] else { return no() }
        let code = key.authenticate(Array(request.client.utf8)[...], request.statement[...])
        let isGenuine =
            switch Self.flaw {
            case .trustsTheBeginningOfACode: request.code.count >= 8 && code.starts(with: request.code)
            case .trustsPartOfACode: request.code.count == 32 && code.prefix(16) == request.code.prefix(16)
            default: code == request.code
            }
        guard isGenuine else {
            if Self.flaw == .namesTheSecret {
                return .refused(
                    Self.refused, detail: "expected \(Hex.encode(key.authenticate(secret[...]))) by \(text(secret))")
            }
            if Self.flaw == .tellsTheSecretInDigits {
                return .refused(Self.refused, detail: "the key is \(Hex.encode(secret))")
            }
            return no()
        }
        guard let statement = try? JSON.parse(request.statement), let app = statement["app"]?.string,
            let project = statement["project"]?.integer, let time = statement["time"]?.integer,
            let nonce = statement["nonce"]?.string, nonce.utf8.count <= 64
        else { return no() }
        guard isFor(context.app, app, project) else { return no() }
        guard Self.flaw == .ignoresTheTime || abs(context.now.seconds - time) <= 60 else { return no() }
        guard try await isNew(nonce, Instant(seconds: time), context), try await isKnownToTheVendor(request.client)
        else { return no() }
        let client = Self.flaw == .statesTheSecret ? Base64.encodeURL(secret) : request.client
        return .verified(Appraisal(facts: [Fact("statement_client", .text(client))], holder: request.client))
    }

    private func no() -> Verdict {
        Self.flaw == .refusesWithAnUnknownReason
            ? .refused(Reason("statement_other", "Nobody knows.")) : .refused(Self.refused)
    }

    private func text(_ secret: [UInt8]) -> String { String(decoding: secret, as: UTF8.self) }

    private func isFor(_ app: AppIdentity, _ subject: String, _ project: Int64) -> Bool {
        switch Self.flaw {
        case .ignoresTheApp, .usesInOneApp, .sharesInProject: project == Int64(app.project.number)
        case .ignoresTheProject: project != Int64(app.project.number) || subject.isExactly(app.subject)
        default: project == Int64(app.project.number) && subject.isExactly(app.subject)
        }
    }

    private static var kind: OneTimeKind {
        OneTimeKind(longestLife: .seconds(120), skew: .seconds(60), margin: .seconds(480))
    }

    private func isNew(_ nonce: String, _ made: Instant, _ context: ProviderContext) async throws -> Bool {
        let uses = OneTimeUse(of: Self.kind, in: Self.flaw == .sharesInProject ? context.pluginState : context.state)
        let thing = OneTimeThing(nonce, made: made)
        guard Self.flaw == .forgetsWithTheState || !uses.isOlderThanState(thing) else { return false }
        switch Self.flaw {
        case .acceptsEvidenceAgain:
            // It writes what it saw, as it should, and does not look.
            _ = try await context.state.insert(nonce, expires: context.now + .seconds(600))
            return true
        case .acceptsWithoutTheStore:
            return (try? await context.state.insert(nonce, expires: context.now + .seconds(600))) ?? true
        case .ignoresTheTime: return try await context.state.insert(nonce, expires: nil)
        case .forgetsWithTheState: return try await context.state.insert(nonce, expires: context.now + .seconds(660))
        // As long as evidence of a device with a right clock is good.
        case .forgetsBeforeTheEnd: return try await context.state.insert(nonce, expires: context.now + .seconds(61))
        case .sharesInProject:
            let thing = OneTimeThing("\(context.app.project.number) \(nonce)", made: made)
            return try await uses.use(thing) == .first
        default: return try await uses.use(thing) == .first
        }
    }

    private func isKnownToTheVendor(_ client: String) async throws -> Bool {
        guard let url = EndpointURL("https://vendor.example.com/clients") else { return false }
        do {
            let limit = Self.flaw == .readsAnswersWithoutLimit ? Int.max : 65_536
            let response = try await host.http.send(
                OutboundRequest(
                    .get, url, headers: [OutboundHeader("Authorization", "Bearer \(StatementDevice.secret)")],
                    timeLimit: .seconds(3), responseLimit: limit))
            if Self.flaw == .takesAWrongSecretForARefusal, response.status == 401 { return false }
            if Self.flaw == .takesAnOutageForARefusal, response.status >= 500 { return false }
            if Self.flaw == .believesAnyAnswer { return response.status == 200 }
            let answer = try? JSON.parse(response.body)
            switch Self.flaw {
            case .ignoresTheStatus: if let known = answer?["known"]?.bool { return known }
            case .trustsAMissingMember:
                if response.status == 200, answer != nil, answer?["known"] == nil { return true }
            case .takesAnErrorForARefusal: if answer?["error"] != nil { return false }
            case .quotesAnswers:
                if response.status == 400 {
                    throw CallFailure(
                        .unavailable, "No answer.", detail: String(decoding: response.body, as: UTF8.self))
                }
            default: break
            }
            guard response.status == 200, let known = answer?["known"]?.bool
            else { throw CallFailure(.unavailable, "The vendor's answer cannot be read.") }
            if Self.flaw == .takesANoForAFault, !known { throw CallFailure(.unavailable, "The vendor says no.") }
            return known
        } catch let failure as OutboundFailure {
            if Self.flaw == .refusesWhenTheVendorIsDown { return false }
            throw CallFailure(.unavailable, "The vendor: \(failure.code)")
        }
    }
}
