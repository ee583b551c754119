import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting
import Synchronization

/// What a consumer does wrong.
enum PassFlaw: String, Sendable, CaseIterable {
    case none
    case refusesWithAnUndeclaredReason
    case answersAnotherApp
    case outlivesThePolicy
    case signsAnUndeclaredType
    case signsWithoutEnd
    case looksAtLimitedUse
    case demandsLess
    case grantsEverything
    case takesAWrongSecretForARefusal
    case readsAnswersWithoutLimit
    case takesANoForAFault
    case blocks
}

protocol FlawedPasses: Sendable {
    static var flaw: PassFlaw { get }
}

struct PassSection: DescribedConfiguration, Sendable {
    let desk: String
    let purposes: [String]

    static let keys: [ExactText: PolicyKey] = ["desk": "Who takes the passes.", "purposes": "What passes are for."]
}

/// A consumer that issues passes for tokens, if a guard at another server agrees.
struct PassConsumer<F: FlawedPasses>: TokenConsumer {
    struct Request: RequestMessage {
        let purpose: String
        let note: String
        /// For the method without a token of its own.
        let token: String

        init(_ fields: RequestFields) throws(InvalidRequest) {
            purpose = try fields.string("purpose")
            note = try fields.string("note")
            token = try fields.string("token")
            guard purpose.utf8.count <= 64 else { throw InvalidRequest("the field 'purpose' has 64 bytes at most") }
        }
    }

    static var unknownPurpose: Reason { Reason("pass_purpose", "The policy has no such purpose.") }
    static var denied: Reason { Reason("pass_denied", "The guard says no.") }
    static var badToken: Reason { Reason("pass_token", "The token in the request is not good.") }
    static var descriptor: PluginDescriptor {
        PluginDescriptor.consumer(
            name: "passes", version: "1.0.0", summary: "Passes for other services.",
            posture: SecurityPosture(proves: "There was a token.", trusts: ["whoever reads the pass"]),
            reasons: [unknownPurpose, denied, badToken], facts: [],
            limits: PluginLimits(
                evidence: 16_384, time: F.flaw == .blocks ? .milliseconds(500) : nil, outboundCalls: 1),
            tokenTypes: ["pass+jwt"])
    }
    static var methods: [ConsumerMethod<Self>] {
        [
            .redeem("issuePass", [HTTPRule(.post, "/pass", version: .v1)], selection: .tokenProject) {
                (consumer, request: Request) in
                PreparedRequest(demand: F.flaw == .demandsLess ? TokenDemand() : nil) { context in
                    try await consumer.answer(request, context.app, context)
                }
            },
            .call(
                "changePass", [HTTPRule(.post, "/pass:change", version: .v1)], permission: nil,
                selection: .section(audience: "desk", token: "token")
            ) { (consumer, request: Request, context) in
                let finding =
                    F.flaw == .looksAtLimitedUse
                    ? try await context.tokens.look(at: request.token, TokenDemand())
                    : try await context.tokens.inspect(request.token, TokenDemand())
                guard case .good(_, let app) = finding else { return .refused(badToken) }
                return try await consumer.answer(request, app, context)
            },
        ]
    }

    let audiences: [String]
    private let purposes: Set<ExactText>
    private let http: any OutboundHTTP
    private let memory = PassMemory()

    init(_ configuration: PassSection, scope: ConsumerScope, host: PluginHost) throws(ConfigurationError) {
        guard !configuration.purposes.isEmpty else { throw ConfigurationError(at: ["purposes"], "there are none") }
        audiences = [configuration.desk]
        purposes = Set(configuration.purposes.map { ExactText($0) })
        http = host.http
    }

    private func answer(
        _ request: Request, _ app: AppIdentity?, _ context: ConsumerContext
    ) async throws -> ConsumerVerdict {
        let subject = app?.subject ?? ""
        if F.flaw == .blocks { WrongTime.block(milliseconds: 3000) }
        // The memory of another app is the instance's; the one that outlives the policy is the process's.
        let (memory, key) = F.flaw == .answersAnotherApp ? (memory, "") : (PassMemory.ofProcess, subject)
        if [.answersAnotherApp, .outlivesThePolicy].contains(F.flaw), let known = memory.subject(of: key) {
            return try reply(known, request, context)
        }
        guard purposes.contains(ExactText(request.purpose)) || F.flaw == .grantsEverything else {
            return .refused(
                F.flaw == .refusesWithAnUndeclaredReason ? Reason("pass_other", "Nobody knows.") : Self.unknownPurpose)
        }
        guard try await guardAgrees() else { return .refused(Self.denied) }
        memory.remember(subject, for: key)
        return try reply(subject, request, context)
    }

    private func guardAgrees() async throws -> Bool {
        guard let url = EndpointURL("https://guard.example.com/") else { return false }
        let limit = F.flaw == .readsAnswersWithoutLimit ? Int.max : 4096
        let response = try await http.send(OutboundRequest(.get, url, timeLimit: .seconds(3), responseLimit: limit))
        if F.flaw == .takesAWrongSecretForARefusal, response.status == 403 { return false }
        guard response.status == 200, let agrees = (try? JSON.parse(response.body))?["agrees"]?.bool else {
            throw CallFailure(.unavailable, "The guard's answer cannot be read.")
        }
        if F.flaw == .takesANoForAFault, !agrees { throw CallFailure(.unavailable, "The guard says no.") }
        return agrees
    }

    private func reply(_ subject: String, _ request: Request, _ context: ConsumerContext) throws -> ConsumerVerdict {
        let end = context.now.seconds + (F.flaw == .signsWithoutEnd ? 3650 * 86_400 : 300)
        let claims: JSON = [
            "sub": .string(subject), "purpose": .string(request.purpose), "exp": .integer(end),
            "jti": .string(context.decision.text),
        ]
        guard F.flaw == .signsAnUndeclaredType || F.flaw == .signsWithoutEnd else {
            return .granted(ConsumerReply(["pass": .string(try context.tokens.sign(type: "pass+jwt", claims: claims))]))
        }
        // The kernel would sign neither.
        let type = F.flaw == .signsWithoutEnd ? "pass+jwt" : "secret-pass+jwt"
        let header: JSON = ["alg": "HS256", "typ": .string(type)]
        let signed = [header, claims].map { Base64.encodeURL($0.encoded) }.joined(separator: ".")
        let code = HMACSHA256(key: [1, 2, 3]).authenticate(Array(signed.utf8)[...])
        return .granted(ConsumerReply(["pass": .string("\(signed).\(Base64.encodeURL(code))")]))
    }
}

/// Whom wrong consumers have answered before.
final class PassMemory: Sendable {
    static let ofProcess = PassMemory()
    private let subjects = Mutex<[ExactText: String]>([:])

    func subject(of key: String) -> String? { subjects.withLock { $0[ExactText(key)] } }
    func remember(_ subject: String, for key: String) { subjects.withLock { $0[ExactText(key)] = subject } }
}

/// The clients of a ``PassConsumer``.
enum PassClient {
    static func suite<F: FlawedPasses>(_ type: F.Type) -> any ConformanceSuite {
        TokenConsumerSuite(PassConsumer<F>.self, subject)
    }

    static var subject: ConsumerSubject {
        ConsumerSubject(
            requests: [
                ConsumerSubject.Request("issuePass", adversaries: adversaries { issue($0, $1) }) { issue($0) },
                ConsumerSubject.Request(
                    "changePass", withoutDemand: "its token is part of the message, and the consumer's own matter",
                    adversaries: adversaries { change($0, $1) }
                ) { change($0) },
            ],
            section: { section($0, "delivery") }, wrongSections: ["desk: x\npurposes: [] # wrong"],
            refusingSection: section(.first, "inspection"),
            secretTexts: ["what-no-message-may-have"],
            upstream: { _ in OutboundResponse(status: 200, body: Array(#"{"agrees": true}"#.utf8)) },
            denials: [
                UpstreamDenial(
                    "that it does not agree", OutboundResponse(status: 200, body: Array(#"{"agrees": false}"#.utf8)))
            ],
            undecided: [
                UpstreamDenial(
                    "that it is asleep", OutboundResponse(status: 200, body: Array(#"{"asleep": true}"#.utf8)))
            ])
    }

    private static func section(_ app: TestApp, _ purpose: String) -> String {
        "desk: \(desk(app))\npurposes: [\(purpose)]"
    }

    private static func desk(_ app: TestApp) -> String { "https://desk-\(app.projectNumber).example.com" }

    private static func issue(_ client: TestClient, _ purpose: String = "delivery") -> Call {
        Call(
            "issuePass", body: ["purpose": .string(purpose), "note": "at the gate", "token": "none"],
            token: .one(client.token))
    }

    private static func change(_ client: TestClient, _ purpose: String = "delivery") -> Call {
        Call(
            "changePass",
            body: [
                "purpose": .string(purpose), "note": "at the gate", "token": .string(client.token),
                "desk": .string(desk(client.app)),
            ])
    }

    private static func adversaries(
        _ make: @escaping @Sendable (TestClient, String) -> Call
    ) -> [Adversary: AdversaryEvidence<TestClient, Call>] {
        [
            .notGranted: .request { make($0, "inspection") },
            .malformed: .request { make($0, String(repeating: "x", count: 65)) },
        ]
    }
}

/// The wrong consumers, each with the check that finds it.
struct WrongPasses: Sendable {
    let flaw: PassFlaw
    let check: String
    let suite: @Sendable () -> any ConformanceSuite

    private init<F: FlawedPasses>(_ type: F.Type, _ check: String) {
        flaw = F.flaw
        self.check = check
        suite = { PassClient.suite(F.self) }
    }

    static let all: [WrongPasses] = [
        WrongPasses(PassUndeclaredReason.self, "contract"),
        WrongPasses(PassAnswersAnotherApp.self, "other-app"),
        WrongPasses(PassOutlivesThePolicy.self, "policy-change"),
        WrongPasses(PassUndeclaredType.self, "issued-tokens"),
        WrongPasses(PassWithoutEnd.self, "issued-tokens"),
        WrongPasses(PassLooks.self, "limited-use"),
        WrongPasses(PassDemandsLess.self, "demands"),
        WrongPasses(PassGrantsEverything.self, "adversary-not-granted"),
        WrongPasses(PassWrongSecret.self, "lying-upstream"),
        WrongPasses(PassWithoutLimit.self, "huge-upstream"),
        WrongPasses(PassNoIsAFault.self, "upstream-no"),
        WrongPasses(PassBlocks.self, "time"),
    ]
}

enum CorrectPass: FlawedPasses { static let flaw = PassFlaw.none }
enum PassUndeclaredReason: FlawedPasses { static let flaw = PassFlaw.refusesWithAnUndeclaredReason }
enum PassAnswersAnotherApp: FlawedPasses { static let flaw = PassFlaw.answersAnotherApp }
enum PassOutlivesThePolicy: FlawedPasses { static let flaw = PassFlaw.outlivesThePolicy }
enum PassUndeclaredType: FlawedPasses { static let flaw = PassFlaw.signsAnUndeclaredType }
enum PassWithoutEnd: FlawedPasses { static let flaw = PassFlaw.signsWithoutEnd }
enum PassLooks: FlawedPasses { static let flaw = PassFlaw.looksAtLimitedUse }
enum PassDemandsLess: FlawedPasses { static let flaw = PassFlaw.demandsLess }
enum PassGrantsEverything: FlawedPasses { static let flaw = PassFlaw.grantsEverything }
enum PassWrongSecret: FlawedPasses { static let flaw = PassFlaw.takesAWrongSecretForARefusal }
enum PassWithoutLimit: FlawedPasses { static let flaw = PassFlaw.readsAnswersWithoutLimit }
enum PassNoIsAFault: FlawedPasses { static let flaw = PassFlaw.takesANoForAFault }
enum PassBlocks: FlawedPasses { static let flaw = PassFlaw.blocks }
