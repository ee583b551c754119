import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Testing

/// Evidence that has its challenge within itself; the provider finds it there, or says that it did.
private struct SealedEvidenceProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        let (evidence, isSilent): (String, Bool)
        init(_ fields: RequestFields) throws(InvalidRequest) {
            evidence = try fields.string("evidence")
            isSilent = try fields.bool("isSilent")
        }
    }

    static let malformed = Reason("sealed_evidence_malformed", "The evidence holds no challenge.")
    static let descriptor = PluginDescriptor.provider(
        name: "sealed_evidence", summary: "Evidence with its challenge within.", reasons: [malformed])
    static let methods: [ProviderMethod<SealedEvidenceProvider>] = [
        .challenge("generateSealedChallenge", text: .base64URL),
        .exchange("exchangeSealed", findsChallenge: true) { (_, request: Request, _) in judge(request) },
        .exchange("exchangeUndeclared") { (_, request: Request, _) in judge(request) },
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}

    private static func judge(_ request: Request) -> Verdict {
        guard let challenge = Base64.decode(request.evidence) else { return .refused(malformed) }
        return .verified(Appraisal(challenge: request.isSilent ? nil : challenge))
    }
}

@Suite("A challenge that is found in the evidence")
struct FoundChallengeTests {
    private let engine: TestEngine

    init() throws {
        engine = try TestEngine(
            [.provider(SealedEvidenceProvider.self)], policy: TestEngine.policy(providers: "sealed_evidence: {}"))
    }

    private func challenge() async throws -> String {
        let reply = try await engine.call("generateSealedChallenge", TestEngine.app).result.get()
        return try #require(reply["challenge"]?.string)
    }

    private func exchange(_ body: JSON, _ method: String = "exchangeSealed") async -> CallFailure? {
        if case .failure(let failure) = await engine.call(method, TestEngine.app, body).result { failure } else { nil }
    }

    @Test("It is redeemed as one that the request names: once, in time, and no other")
    func redeemed() async throws {
        let text = try await challenge()
        #expect(text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_".utf8.contains($0) })
        #expect(await exchange(["evidence": .string(text)]) == nil)
        #expect(await exchange(["evidence": .string(text)])?.reason == KernelReasons.challengeAlreadyUsed)
        #expect(await exchange(["evidence": "AAAA"])?.reason == KernelReasons.challengeMalformed)
        #expect(await exchange(["evidence": "!"])?.reason == SealedEvidenceProvider.malformed)
        let late = try await challenge()
        engine.clock.advance(by: .seconds(301))
        #expect(await exchange(["evidence": .string(late)])?.reason == KernelReasons.challengeExpired)
    }

    @Test("A provider that should find one and does not breaks its contract, and so does one that should not")
    func contract() async throws {
        let silent: JSON = ["evidence": .string(try await challenge()), "isSilent": true]
        #expect(await exchange(silent)?.status == .internalError)
        let text: JSON = ["evidence": .string(try await challenge())]
        #expect(await exchange(text, "exchangeUndeclared")?.status == .internalError)
        // The challenge was not used up.
        #expect(await exchange(text) == nil)
    }
}
