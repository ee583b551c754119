import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
import AssayTesting
import Foundation
import Testing
@testable import AssayServices

/// A service that captures evidence in a folder of its own.
struct CaptureScene {
    let folder: String
    let key: PrivateKey
    let meter = CountingMeter()
    /// The clock of the folder; the service has another one.
    let clock = ManualClock()
    let evidence: EvidenceFolder
    let service: TestService

    /// - Parameters:
    ///   - capture: further keys of the section `capture`.
    ///   - section: whether the policies have the section.
    ///   - providers: further keys of the first app.
    init(
        in parent: URL, capture: String = "", section: Bool = true, plugins: [Plugin] = [], providers: String = "",
        appAttest: String = "", options: EvidenceFolder.Options = .init(perSecond: 10_000),
        authority: SimulatedAppleCA? = nil
    ) throws {
        folder = parent.appendingPathComponent("evidence").path
        key = try PrivateKey.generate(.ec(.p256))
        let log = clock.hostClock
        evidence = try EvidenceFolder(
            path: folder, logger: TestService.silent, meter: meter.meter, clock: log, options: options)
        service = try TestService(
            authority: authority, tokens: section ? try Self.section(key, capture) : "", plugins: plugins,
            providers: providers, options: Engine.Options(evidence: evidence), appAttest: appAttest)
    }

    static func section(_ key: PrivateKey, _ more: String = "") throws -> String {
        let pem = String(decoding: try key.publicKey.pem(), as: UTF8.self).replacing("\n", with: "\\n")
        return "capture: {public_key: \"\(pem)\"\(more.isEmpty ? "" : ", \(more)")}"
    }

    /// The files of the folder in the order of time.
    var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    /// All lines, after what waits was written.
    func lines() async throws -> [[UInt8]] {
        await evidence.close()
        return try files.flatMap { name in
            try Array(Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
                .split(separator: UInt8(ascii: "\n")).map(Array.init)
        }
    }

    /// All evidence.
    func records() async throws -> [CapturedEvidence] {
        try await lines().map { try EvidenceLine(parsing: $0).open(with: key) }
    }

    /// A replay under the policies of the service, or under others.
    func replay(providers: String = "", appAttest: String = "", plugins: [Plugin] = []) throws -> EvidenceReplay {
        let text = TestService.policy(service.authority, providers: providers, appAttest: appAttest)
        return try EvidenceReplay(
            .load([PolicyFile(name: "other.yaml", text: text)]),
            registry: Registry([.provider(AppAttestProvider.self), .provider(DebugProvider.self)] + plugins))
    }

    /// Sends a debug token, from one of many addresses.
    func sendDebugToken(_ token: String, _ app: String = TestService.app, peer: Int = 1) async -> Reply {
        await service.engine.handle(
            Call(
                "exchangeDebugToken", resource: app, body: ["debugToken": .string(token)],
                peer: "198.\(18 + peer / 65_536 % 2).\(peer / 256 % 256).\(peer % 256)",
                credentials: BearerToken("secret-of-a-caller")))
    }

    /// A body that no policy's token is.
    static let wrongToken = "0B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C99"
}
