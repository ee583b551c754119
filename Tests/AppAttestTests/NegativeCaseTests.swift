import AssayAppAttest
import AssayCore
import AssayKit
import AssayTesting
import Testing

/// Each way in which simulated evidence can be wrong is refused for its own reason, and what is only unusual passes.
@Suite struct NegativeCaseTests {
    private static let attestations: [NegativeCase<AttestationScene>] =
        NegativeCase.encoding + NegativeCase.authenticatorData + NegativeCase.certificates + NegativeCase.receipts

    @Test("A genuine attestation of each system is accepted", arguments: ["iOS 26", "iOS 27", "macOS 27"])
    func acceptsGenuineAttestation(name: String) throws {
        var scene = try AttestationScene()
        scene.system = name == "iOS 26" ? .iOS26 : name == "iOS 27" ? .iOS27 : .macOS27
        let verified = try #require(try scene.outcome().verified)
        #expect(verified.publicKey == (try scene.key().point))
        #expect(verified.system.version == scene.system.version)
        #expect(verified.system.build == scene.system.build)
        #expect(verified.system.isMac == (name == "macOS 27"))
        #expect(verified.certifiedAppID == scene.app.appID)
        #expect(verified.validationCategory == (scene.system.hasExtensionMap ? .development : nil))
        #expect(verified.bundleVersion == (scene.system.hasExtensionMap ? "1" : nil))
        #expect(verified.codeDirectoryHash?.count == (scene.system.hasCodeDirectoryHash ? 32 : nil))
        #expect(verified.receipt?.receipt?.created == scene.made)
    }

    @Test("An attestation", arguments: attestations)
    func judges(attestation row: NegativeCase<AttestationScene>) throws {
        var scene = try AttestationScene()
        try row.arrange(&scene)
        let outcome = try scene.outcome()
        expect(row.reason, outcome.refusal, isVerified: outcome.verified != nil)
    }

    @Test("An assertion", arguments: NegativeCase<AssertionScene>.all)
    func judges(assertion row: NegativeCase<AssertionScene>) throws {
        var scene = AssertionScene()
        try row.arrange(&scene)
        let outcome = try scene.outcome()
        expect(row.reason, outcome.refusal, isVerified: outcome.verified != nil)
    }

    @Test("An exchanged receipt", arguments: NegativeCase<ExchangedReceiptScene>.all)
    func judges(receipt row: NegativeCase<ExchangedReceiptScene>) throws {
        var scene = try ExchangedReceiptScene()
        try row.arrange(&scene)
        let outcome = try scene.outcome()
        expect(row.reason, outcome.refusal, isVerified: outcome.receipt != nil)
    }

    /// Reasons that no evidence by itself gives, and the suites that provoke them.
    private static let elsewhere = [
        "artifact_invalid": "AppAttestProviderTests",
        "artifact_root_untrusted": "AppAttestProviderTests",
        "risk_metric_too_high": "RiskMetricTests",
        "risk_metric_unknown": "RiskMetricTests",
        "validation_category_not_allowed": "AppAttestProviderTests",
        "validation_category_unreported": "AppAttestProviderTests",
    ]

    @Test("Every reason is provoked by a row, or by a suite that is named")
    func coversEveryReason() {
        let provoked =
            Self.attestations.compactMap(\.reason) + NegativeCase<AssertionScene>.all.compactMap(\.reason)
            + NegativeCase<ExchangedReceiptScene>.all.compactMap(\.reason)
        let codes = Set(provoked.map(\.code))
        let missing = AppAttestReasons.all.map(\.code).filter { !codes.contains($0) }
        #expect(Set(missing) == Set(Self.elsewhere.keys))
    }

    @Test("Simulated evidence is worth nothing under Apple's roots")
    func refusesSimulationUnderAppleRoots() throws {
        var scene = try AttestationScene()
        let object = try scene.attestation()
        let apple = try AttestationVerifier(receipts: .unchecked)
        let outcome = apple.verify(object, expecting: try scene.expectation(), at: scene.judged)
        #expect(outcome.refusal?.reason == Reasons.chainUntrusted)

        scene.receiptVerifier = try ReceiptVerifier()
        #expect(try scene.outcome().refusal?.reason == Reasons.receiptRootUnknown)
    }

    @Test("An intermediate that was verified once is judged again")
    func judgesRememberedIntermediate() throws {
        let scene = try AttestationScene()
        let verifier = try scene.verifier()
        func reason(_ change: (inout AttestationScene) throws -> Void) throws -> Reason? {
            var other = scene
            try change(&other)
            return try other.outcome(verifier).refusal?.reason
        }
        for _ in 0..<2 {
            #expect(try reason { _ in } == nil)
            #expect(try reason { $0.options.chain = { $0[1] = $0[1].flipping(-1) } } == Reasons.intermediateNotByRoot)
            #expect(try reason { $0.options.chain = { $0[0] = $0[0].flipping(-1) } } == Reasons.leafSignatureInvalid)
            #expect(try reason { $0.authority = try Simulation.impostor() } == Reasons.intermediateNotByRoot)
            #expect(
                try reason {
                    $0.options.leaf = { $0.notAfter = $0.notBefore + .seconds(4000 * 86_400) }
                    $0.made = Simulation.now + .seconds(1209 * 86_400)
                    $0.judged = $0.made
                } == Reasons.intermediateExpired)
        }
    }

    private func expect(
        _ reason: Reason?, _ refusal: AppAttestRefusal?, isVerified: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let detail = Comment(rawValue: refusal?.description ?? "verified")
        #expect(refusal?.reason == reason, detail, sourceLocation: sourceLocation)
        #expect(isVerified == (reason == nil), detail, sourceLocation: sourceLocation)
    }
}
