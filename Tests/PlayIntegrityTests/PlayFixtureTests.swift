import AssayAndroid
import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import Foundation
import Testing

@testable import AssayPlayIntegrity

/// Tokens and payloads that others made; they are not part of this package.
@Suite("Play Integrity tokens of others")
struct PlayFixtureTests {
    private static let folder = "fixtures/android/play-integrity"
    private static let isPresent = SharedFiles.has(folder)

    @Test(
        "Classic tokens get their verdicts",
        .enabled(if: isPresent, "skipped: fixtures/android/play-integrity is not here"))
    func classic() throws {
        let file = try JSON.parse(
            SharedFiles.bytes("\(Self.folder)/synthetic-classic-tokens.json"), limits: JSON.Limits(bytes: 1 << 20))
        let secrets = SecretSource { reference in
            let name =
                reference.place == .environment("D") ? "decryption_key_base64" : "verification_key_spki_base64"
            return file[name]?.string.map { Array($0.utf8) }
        }
        let pair = Data(#"{"decryption_key": "env:D", "verification_key": "env:V"}"#.utf8)
        let keys = try PlayResponseKeys([JSONDecoder().decode(PlayResponseKeysConfiguration.self, from: pair)], secrets)
        let now = Instant(milliseconds: try #require(file["verify_at_millis"]?.integer))
        let nonce = try #require(file["expected_nonce"]?.string.flatMap { Base64.decode($0) })
        let cases = try #require(file["cases"]?.array)
        #expect(cases.count > 3)
        for example in cases {
            let name = example["name"]?.string ?? ""
            let token = Array((example["token"]?.string ?? "").utf8)
            var isAccepted = false
            do {
                let verdict = try PlayVerdict(keys.open(KeyWrappedJWE.parse(utf8: token[...])))
                let identity = AndroidIdentity(
                    package: verdict.package ?? "", signingDigests: verdict.digests.compactMap { Base64.decode($0) })
                let rules = try PlayIntegrityRules(Self.configuration, identity, stage: .production)
                isAccepted = try rules.judge(verdict, isClassic: true, at: now) == nonce
            } catch {
                #expect(error is PlayRefusal || error is JWEError, "\(name): \(error)")
            }
            #expect(isAccepted == (example["expected"]?.string == "accept"), "\(name)")
        }
    }

    @Test(
        "Published payloads are read, whatever is missing in them",
        .enabled(if: isPresent, "skipped: fixtures/android/play-integrity is not here"))
    func payloads() throws {
        let file = try JSON.parse(
            SharedFiles.bytes("\(Self.folder)/payloads.json"), limits: JSON.Limits(bytes: 1 << 20))
        let samples = try #require(file["samples"]?.array)
        var read = 0
        for sample in samples {
            let payload = try #require(sample["tokenPayloadExternal"])
            guard payload["requestDetails"] != nil else {
                #expect(throws: PlayRefusal.self) { try PlayVerdict(payload) }
                continue
            }
            let verdict = try PlayVerdict(payload)
            #expect(verdict.requestPackage == payload["requestDetails"]?["requestPackageName"]?.string)
            #expect(verdict.level >= .device)
            #expect(verdict.versionCode != nil)
            read += 1
        }
        #expect(read == samples.count - 1)
    }

    private static var configuration: PlayIntegrityConfiguration {
        get throws { try JSONDecoder().decode(PlayIntegrityConfiguration.self, from: Data("{}".utf8)) }
    }
}
