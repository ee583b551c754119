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

/// The devices of a ``StatementProvider``.
enum StatementDevice {
    static let secret = "a-key-of-a-client-that-nobody-else-may-see"
    private static let key = Array(secret.utf8)
    private static let numbers = Mutex(0)

    static func suite<P: AttestationProvider>(_ type: P.Type) -> any ConformanceSuite {
        AttestationProviderSuite(type, subject)
    }

    static let subject = ProviderSubject(
        exchanges: [ProviderSubject.Exchange("exchangeStatement", lifetime: .seconds(60), request: request)],
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
        upstream: { _ in OutboundResponse(status: 200, body: Array(#"{"known": true}"#.utf8)) })

    private static let wrong = "# wrong"

    private static func section(_ names: String...) -> String {
        "clients:\n" + names.map { "  - {name: \($0), key: env:CLIENT}" }.joined(separator: "\n")
    }

    @Sendable private static func request(_ device: TestDevice) throws -> JSON {
        let number = numbers.withLock { numbers in
            numbers += 1
            return numbers
        }
        let statement = JSON.object([
            JSONMember("app", .string(device.app.id())), JSONMember("project", .integer(device.app.projectNumber)),
            JSONMember("time", .integer(device.now.seconds)), JSONMember("nonce", .string("nonce-\(number)")),
        ]).encoded
        let client = "client-\(device.number % 3 + 1)"
        return [
            "client": .string(client), "statement": .string(Base64.encode(statement)),
            "code": .string(Base64.encode(HMACSHA256(key: key).authenticate(Array(client.utf8)[...], statement[...]))),
        ]
    }
}
