import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting
import Synchronization
import Testing

/// The wrong providers, each with the check that finds it.
struct WrongProvider: Sendable, CustomTestStringConvertible {
    let flaw: Flaw
    let check: String
    let suite: @Sendable () -> any ConformanceSuite

    var testDescription: String { flaw.rawValue }

    private init<F: Flawed>(_ type: F.Type, _ check: String) {
        flaw = F.flaw
        self.check = check
        suite = { StatementDevice.suite(StatementProvider<F, DescribedSection>.self) }
    }

    private init<F: Flawed>(sharing type: F.Type, _ check: String) {
        flaw = F.flaw
        self.check = check
        suite = { StatementDevice.sharing(StatementProvider<F, DescribedSection>.self) }
    }

    private init<F: Flawed>(undescribed type: F.Type, _ check: String) {
        flaw = F.flaw
        self.check = check
        suite = { StatementDevice.suite(StatementProvider<F, UndescribedSection>.self) }
    }

    static let all: [WrongProvider] = [
        WrongProvider(TrustsTheBeginningOfACode.self, "truncation"),
        WrongProvider(TrustsPartOfACode.self, "bit-flips"),
        WrongProvider(IgnoresTheApp.self, "other-app"),
        WrongProvider(IgnoresTheProject.self, "other-project"),
        WrongProvider(AcceptsEvidenceAgain.self, "replay"),
        WrongProvider(IgnoresTheTime.self, "clock"),
        WrongProvider(NamesTheSecret.self, "secrecy"),
        WrongProvider(TellsTheSecretInDigits.self, "secrecy"),
        WrongProvider(StatesTheSecret.self, "secrecy"),
        WrongProvider(RefusesWhenTheVendorIsDown.self, "dead-upstream"),
        WrongProvider(AcceptsWithoutTheStore.self, "lost-store"),
        WrongProvider(RefusesWithAnUnknownReason.self, "contract"),
        WrongProvider(RefusesAtRandom.self, "genuine"),
        WrongProvider(undescribed: LeavesAKeyUndescribed.self, "documentation"),
        WrongProvider(DoesNotPlaceAnError.self, "configuration"),
        WrongProvider(BelievesAnyAnswer.self, "lying-upstream"),
        WrongProvider(TakesAWrongSecretForARefusal.self, "lying-upstream"),
        WrongProvider(TakesAnOutageForARefusal.self, "lying-upstream"),
        WrongProvider(ReadsAnswersWithoutLimit.self, "huge-upstream"),
        WrongProvider(TakesANoForAFault.self, "upstream-no"),
        WrongProvider(IgnoresTheStatus.self, "almost-genuine"),
        WrongProvider(TrustsAMissingMember.self, "almost-genuine"),
        WrongProvider(TakesAnErrorForARefusal.self, "undecided"),
        WrongProvider(QuotesAnswers.self, "secrecy"),
        WrongProvider(ForgetsBeforeTheEnd.self, "replay-later"),
        WrongProvider(ForgetsWithTheState.self, "new-state"),
        WrongProvider(sharing: UsesInOneApp.self, "replay-in-project"),
    ]
}

enum Correct: Flawed { static let flaw = Flaw.none }
enum TrustsTheBeginningOfACode: Flawed { static let flaw = Flaw.trustsTheBeginningOfACode }
enum TrustsPartOfACode: Flawed { static let flaw = Flaw.trustsPartOfACode }
enum IgnoresTheApp: Flawed { static let flaw = Flaw.ignoresTheApp }
enum IgnoresTheProject: Flawed { static let flaw = Flaw.ignoresTheProject }
enum AcceptsEvidenceAgain: Flawed { static let flaw = Flaw.acceptsEvidenceAgain }
enum IgnoresTheTime: Flawed { static let flaw = Flaw.ignoresTheTime }
enum NamesTheSecret: Flawed { static let flaw = Flaw.namesTheSecret }
enum TellsTheSecretInDigits: Flawed { static let flaw = Flaw.tellsTheSecretInDigits }
enum StatesTheSecret: Flawed { static let flaw = Flaw.statesTheSecret }
enum RefusesWhenTheVendorIsDown: Flawed { static let flaw = Flaw.refusesWhenTheVendorIsDown }
enum AcceptsWithoutTheStore: Flawed { static let flaw = Flaw.acceptsWithoutTheStore }
enum RefusesWithAnUnknownReason: Flawed { static let flaw = Flaw.refusesWithAnUnknownReason }
enum RefusesAtRandom: Flawed { static let flaw = Flaw.refusesAtRandom }
enum LeavesAKeyUndescribed: Flawed { static let flaw = Flaw.leavesAKeyUndescribed }
enum DoesNotPlaceAnError: Flawed { static let flaw = Flaw.doesNotPlaceAnError }
enum BelievesAnyAnswer: Flawed { static let flaw = Flaw.believesAnyAnswer }
enum TakesAWrongSecretForARefusal: Flawed { static let flaw = Flaw.takesAWrongSecretForARefusal }
enum TakesAnOutageForARefusal: Flawed { static let flaw = Flaw.takesAnOutageForARefusal }
enum ReadsAnswersWithoutLimit: Flawed { static let flaw = Flaw.readsAnswersWithoutLimit }
enum IgnoresTheStatus: Flawed { static let flaw = Flaw.ignoresTheStatus }
enum TrustsAMissingMember: Flawed { static let flaw = Flaw.trustsAMissingMember }
enum TakesAnErrorForARefusal: Flawed { static let flaw = Flaw.takesAnErrorForARefusal }
enum QuotesAnswers: Flawed { static let flaw = Flaw.quotesAnswers }
enum TakesANoForAFault: Flawed { static let flaw = Flaw.takesANoForAFault }
enum ForgetsBeforeTheEnd: Flawed { static let flaw = Flaw.forgetsBeforeTheEnd }
enum UsesInOneApp: Flawed { static let flaw = Flaw.usesInOneApp }
enum ForgetsWithTheState: Flawed { static let flaw = Flaw.forgetsWithTheState }
enum DeclaresMore: Flawed { static let flaw = Flaw.declaresMore }
enum NeverEnds: Flawed { static let flaw = Flaw.neverEnds }
enum SharesInProject: Flawed { static let flaw = Flaw.sharesInProject }

/// The devices of a ``StatementProvider``.
enum StatementDevice {
    static let secret = "a-key-of-a-client-that-nobody-else-may-see"
    private static let key = Array(secret.utf8)
    private static let numbers = Mutex(0)

    static func suite<P: AttestationProvider>(_ type: P.Type) -> any ConformanceSuite {
        AttestationProviderSuite(type, subject)
    }

    /// The suite of a provider whose statements are good for all apps of a project.
    static func sharing<P: AttestationProvider>(_ type: P.Type) -> any ConformanceSuite {
        var subject = subject
        subject.exchanges[0].sharing = "a statement is for all apps of a project"
        subject.exchanges[0].adversaries[.otherApp] = .impossible("a statement is for all apps of a project")
        return AttestationProviderSuite(type, subject)
    }

    static let subject = ProviderSubject(
        exchanges: [
            ProviderSubject.Exchange(
                "exchangeStatement", lifetime: .seconds(60), adversaries: adversaries
            ) { body($0) }
        ],
        section: { _ in section("client-1", "client-2", "client-3") },
        wrongSections: [
            """
            clients:
              - {name: client-1, key: env:CLIENT}
              - {name: client-2, key: env:MISSING} \(wrong)
            """,
            "clients: {name: client-1} \(wrong)",
        ],
        secrets: SecretSource { (reference) throws(SecretError) in
            reference.place == .environment("CLIENT") ? key : nil
        },
        upstream: { _ in OutboundResponse(status: 200, body: Array(#"{"known": true}"#.utf8)) },
        denials: [
            UpstreamDenial(
                "that the client is unknown", OutboundResponse(status: 200, body: Array(#"{"known": false}"#.utf8)))
        ],
        undecided: [
            UpstreamDenial(
                "that the key is wrong", OutboundResponse(status: 200, body: Array(#"{"error": "key"}"#.utf8)))
        ])

    private static let wrong = "# wrong"

    private static func section(_ names: String...) -> String {
        "clients:\n" + names.map { "  - {name: \($0), key: env:CLIENT}" }.joined(separator: "\n")
    }

    private static func body(
        _ device: TestDevice, by key: [UInt8] = key, app: TestApp? = nil, late: Int64 = 0, nonce: String = "nonce",
        name: String? = nil
    ) -> JSON {
        let number = numbers.withLock { numbers in
            numbers += 1
            return numbers
        }
        let app = app ?? device.app
        let statement = JSON.object([
            JSONMember("app", .string(app.id())), JSONMember("project", .integer(app.projectNumber)),
            JSONMember("time", .integer(device.now.seconds - late)), JSONMember("nonce", .string("\(nonce)-\(number)")),
        ]).encoded
        let client = name ?? "client-\(device.number % 3 + 1)"
        return [
            "client": .string(client), "statement": .string(Base64.encode(statement)),
            "code": .string(Base64.encode(HMACSHA256(key: key).authenticate(Array(client.utf8)[...], statement[...]))),
        ]
    }

    private static var adversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>] {
        [
            .wrongAuthority: .impossible("no authority certifies a client"),
            .otherKey: .request { body($0, by: Array("another key than that of the client".utf8)) },
            .otherApp: .request { body($0, app: .second) },
            .untrustedDevice: .impossible("a statement says nothing of a device"),
            .expired: .request { body($0, late: 3600) }, .future: .request { body($0, late: -3600) },
            .malformed: .request { body($0, nonce: String(repeating: "n", count: 64)) },
            .downgraded: .impossible("there is one algorithm"),
            Adversary("unknown-client", "a client that the policy does not list gets no token"): .request {
                body($0, name: "nobody")
            },
        ]
    }
}
