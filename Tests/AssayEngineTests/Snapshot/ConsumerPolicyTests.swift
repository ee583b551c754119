import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Foundation
import Testing

/// A section, what is wrong in it, and the key at which it is said.
private let badSections: [(String, String, String)] = [
    ("weigt: 1", "unknown key", "consumers.parcel.weigt"),
    ("weight: 0", "expected a weight above zero", "consumers.parcel.weight"),
    ("tokens: {limited: true}", "unknown key", "consumers.parcel.tokens.limited"),
    (
        "tokens: {apps: [\"1:1:ios:1\"]}", "unknown app or OAuth client `1:1:ios:1`",
        "consumers.parcel.tokens.apps[0]"
    ),
    ("tokens: {providers: [vuoch]}", "unknown provider `vuoch`", "consumers.parcel.tokens.providers[0]"),
    ("tokens: {apps: []}", "without an app every token is refused", "consumers.parcel.tokens.apps"),
    ("tokens: {max_age: 0s}", "expected a duration above zero", "consumers.parcel.tokens.max_age"),
    ("tokens: {enforcement: ENFORCE}", "ENFORCED", "consumers.parcel.tokens.enforcement"),
    (
        "actors: [{issuer: a, audiences: [], jwks: env:USERS}]", "without an audience",
        "consumers.parcel.actors[0].audiences"
    ),
    (
        "actors: [{issuer: a, audiences: [b], jwks: env:USERS}, {issuer: a, audiences: [b], jwks: env:USERS}]",
        "the issuer is named twice", "consumers.parcel.actors[1].issuer"
    ),
]

@Suite("Consumers in policies")
struct ConsumerPolicyTests {
    private let users: PrivateKey

    init() throws {
        users = try .generate(.ec(.p256))
    }

    private func problems(_ text: String) throws -> [String] {
        let clock = ManualClock()
        let registry = try ParcelService.registry()
        do throws(Diagnostics) {
            try PolicySet.read([PolicyFile(name: "test.yaml", text: text)]).check(
                registry, host: ParcelService.host(users, clock, MemoryStore(clock: clock.hostClock)))
            return []
        } catch {
            return error.all.map { "\($0)" }
        }
    }

    @Test("What is wrong in a section is said where it stands", arguments: badSections)
    func bad(_ section: String, _ message: String, _ key: String) throws {
        let problems = try problems(ParcelService.policy(section))
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("test.yaml:") == true)
        #expect(problems.first?.contains("projects[0].\(key)") == true, "\(problems)")
        #expect(problems.first?.contains(message) == true, "\(problems)")
    }

    @Test("What is wrong in the kernel's keys and in the plugin's is said together")
    func together() throws {
        let problems = try problems(ParcelService.policy("weight: -1\ntokens: {apps: []}\nactors: [{}]"))
        #expect(problems.count >= 3)
    }

    @Test("A consumer that there is not is refused, with the one that was meant")
    func unknown() throws {
        let text = ParcelService.policy(isAlone: true).replacing("      parcel:", with: "      parcle:")
        let problems = try problems(text)
        #expect(problems.count == 1)
        #expect(problems.first?.contains("unknown consumer `parcle`") == true)
        #expect(problems.first?.contains("parcel") == true)
    }

    @Test("Two consumers cannot have one audience")
    func audience() throws {
        let text = ParcelService.policy().replacing("https://other.example.com/", with: ParcelService.audience)
        let problems = try problems(text)
        #expect(problems.count == 1)
        #expect(problems.first?.contains("is also that of parcel in project example-project") == true)
    }

    @Test("A consumer without a section answers nobody")
    func absent() async throws {
        let clock = ManualClock()
        let text = ParcelService.policy(isAlone: true)
        let end = try #require(text.range(of: "    consumers:"))
        let engine = try Engine(
            registry: ParcelService.registry(),
            policies: .load([PolicyFile(name: "test.yaml", text: String(text[..<end.lowerBound]))]), keys: .pooled(),
            host: ParcelService.host(users, clock, MemoryStore(clock: clock.hostClock)), sink: RecordingSink())
        #expect(await engine.handle(Call("openParcel", token: .one("x"))).status == .notFound)
        #expect(await engine.handle(Call("weighParcel", body: ["audience": "a"])).status == .notFound)
    }
}
