import AssayCore
import AssayEngine
import AssayKit
import AssayTestSupport
import Foundation
import SwiftOverlayShims
import Synchronization

/// What an instance says that is wrong.
final class SaidProblem: Sendable {
    let text = Mutex<String?>(nil)
}

/// A provider that does what no provider should, as its request says, for tests of the kernel's limits.
struct UnrulyProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        let deed: String
        let pieces: [String]

        init(_ fields: RequestFields) throws(InvalidRequest) {
            deed = try fields.string("deed")
            pieces = try fields.strings("pieces")
            if deed.isExactly("block while reading") { UnrulyProvider.brake.wait() }
        }
    }

    struct ChallengedRequest: RequestMessage {
        let deed: String
        let challenge: [UInt8]

        init(_ fields: RequestFields) throws(InvalidRequest) {
            deed = try fields.string("deed")
            challenge = try fields.bytes("challenge")
        }
    }

    struct Fault: Error {}

    static let refusal = Reason("unruly_refused", "It said so.")
    static let answer = CallFailure(.resourceExhausted, "Not now.", reason: refusal, retryAfter: .seconds(9))
    static let limits = PluginLimits(
        evidence: 1024, cpuTime: .milliseconds(50), concurrentCalls: 6, outboundCalls: 2, storeWrites: 3, reply: 1024)
    static let descriptor = PluginDescriptor.provider(
        name: "unruly", version: "1.0.0", summary: "Does what no provider should.", reasons: [refusal],
        facts: [
            FactName("count", .integer), FactName("level", .words(["low", "high"])), FactName("build", .version),
            "note",
        ],
        limits: limits, answers: [answer])

    static let methods: [ProviderMethod<UnrulyProvider>] = [
        .exchange("exchangeUnrulyEvidence", reply: .enclosed) { provider, request, context in
            try await provider.appraise(request, context)
        },
        .challenge("generateUnrulyChallenge"),
        .exchange("exchangeUnrulyChallenge", challenge: \.challenge, storesChallenge: false) {
            (provider, request: ChallengedRequest, context) in
            .verified(Appraisal(uses: provider.uses(request.deed, context)))
        },
        .call("askUnruly", MethodPath(.post, "/unruly", body: .message), permission: .admin) {
            (provider: UnrulyProvider, request: Request, context) in
            CallAnswer(["text": .string(String(repeating: "x", count: 1_000_000))])
        },
    ]

    /// Holds back what blocks a thread, until a test releases it.
    static let brake = Brake()

    /// The CPU time of the thread, in seconds.
    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private let host: PluginHost
    private let said = SaidProblem()

    var problem: String? { said.text.withLock { $0 } }

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        self.host = host
    }

    private func used(_ space: StateSpace, _ name: String, otherwise reason: Reason = refusal) -> EvidenceUse {
        EvidenceUse(space.advancing(name, to: 1), otherwise: reason)
    }

    /// What is used up although the kernel does not store the challenge, which ends 300 seconds after it was made.
    private func uses(_ deed: String, _ context: ProviderContext) -> [EvidenceUse] {
        func entry(_ name: String, _ seconds: Double) -> EvidenceUse {
            EvidenceUse(
                context.state.inserting(
                    name, expires: context.now + .milliseconds(Int64(seconds * 1000)), isListed: false),
                otherwise: UnrulyProvider.refusal)
        }
        return switch deed {
        case "short uses": [entry("a", 299.999), entry("b", 1)]
        case "past use": [entry("a", -1)]
        case "lasting use": [entry("a", 1), entry("b", 300)]
        case "counter": [entry("a", 1), used(context.state, "b")]
        default: []
        }
    }

    private func appraise(_ request: Request, _ context: ProviderContext) async throws -> Verdict {
        switch request.deed {
        case "say a problem": said.text.withLock { $0 = "the list is of last week" }
        case "take it back": said.text.withLock { $0 = nil }
        case "good": return .verified(Appraisal(facts: [Fact(FactName("count"), .integer(1))]))
        case "hang": await UnrulyProvider.brake.pass()
        case "block": UnrulyProvider.brake.wait()
        case "spin":
            let end = UnrulyProvider.threadTime() + 0.2
            while UnrulyProvider.threadTime() < end {}
            await UnrulyProvider.brake.pass()
        case "spin and answer":
            let end = UnrulyProvider.threadTime() + 0.2
            while UnrulyProvider.threadTime() < end {}
            return .verified(Appraisal())
        case "throw": throw Fault()
        case "write":
            for number in 0..<10 { try await context.state.put("\(number)", value: [1]) }
        case "write by the host":
            for number in 0..<10 { try await host.space.put("\(number)", value: [1]) }
        case "reach": try await host.store.put(StateKey("app_attest/x", "y"), value: [1], expires: nil)
        case "reach near": _ = try await host.store.get(StateKey("unruly_other", "y"))
        case "call":
            for _ in 0..<5 {
                if let url = EndpointURL("https://vendor.example.com/") {
                    _ = try await host.http.send(OutboundRequest(.get, url))
                }
            }
        case "megabyte":
            return .verified(Appraisal(reply: [ReplyField("text", .string(String(repeating: "x", count: 1_000_000)))]))
        case "reason": return .refused(Reason("unruly_other", "Nobody knows."))
        case "fact": return .refused(UnrulyProvider.refusal, facts: [Fact("actor", .text("root"))])
        case "refused facts":
            return .refused(
                UnrulyProvider.refusal, detail: "the count is odd",
                facts: [
                    Fact("count", .text("x")), Fact("note", .text("kept")), Fact("count", .bool(true)),
                    Fact("build", .text("1.x")),
                ])
        case "many refused facts":
            return .refused(UnrulyProvider.refusal, facts: (0..<1000).map { Fact("count", .integer($0)) })
        case "many facts":
            return .verified(Appraisal(facts: (0..<100_000).map { Fact("count", .integer($0)) }))
        case "fact twice": return .verified(Appraisal(facts: [Fact("count", .integer(1)), Fact("count", .integer(2))]))
        case "long fact":
            return .verified(Appraisal(facts: [Fact("note", .text(String(repeating: "x", count: 10_000_000)))]))
        case "fact of another type": return .verified(Appraisal(facts: [Fact("count", .text("1"))]))
        case "unknown word": return .verified(Appraisal(facts: [Fact("level", .text("middle"))]))
        case "no version": return .verified(Appraisal(facts: [Fact("build", .text("1.x"))]))
        case "many uses": return .verified(Appraisal(uses: (0..<9).map { used(context.state, "\($0)") }))
        case "one use twice": return .verified(Appraisal(uses: [used(context.state, "a"), used(context.state, "a")]))
        case "use of others":
            return .verified(Appraisal(uses: [used(StateSpace("debug", in: MemoryStore(clock: .system)), "a")]))
        case "use with a reason":
            return .verified(Appraisal(uses: [used(context.state, "a", otherwise: Reason("unruly_other", "Other."))]))
        case "own answer": throw UnrulyProvider.answer
        case "other answer": throw CallFailure(.notFound, "Who knows?")
        case "not now": throw CallFailure(.unavailable, "The vendor said 5.", retryAfter: .seconds(7))
        default: break
        }
        return .refused(UnrulyProvider.refusal)
    }
}
