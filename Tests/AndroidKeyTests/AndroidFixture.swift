import AssayAndroid
import AssayCore
import AssayCrypto
import AssayTestSupport
import Foundation
import Testing

@testable import AssayAndroidKey

/// A chain of a real device, with what other software read off it.
struct AndroidFixture: Sendable, CustomTestStringConvertible {
    let name: String
    let certificates: [[UInt8]]
    let facts: JSON

    static let isPresent = SharedFiles.has("fixtures/android")
    static let all: [AndroidFixture] = SharedFiles.list("fixtures/android/chains", ending: ".pem").compactMap {
        try? AndroidFixture($0)
    }

    private init(_ path: String) throws {
        name = path
        certificates = try PEM.blocks("CERTIFICATE", in: SharedFiles.bytes(path))
        facts = try JSON.parse(SharedFiles.bytes(path.replacing(".pem", with: ".json")))
    }

    var testDescription: String { name }

    /// When the attestation was made; today for one that was made after the certificates had ended.
    var time: Instant {
        Instant(rfc3339: facts["valid_at"]?.string ?? "") ?? Instant(rfc3339: "2026-11-28T12:00:00Z")
            ?? Instant(seconds: 0)
    }

    var description: JSON? { facts["key_description"] }
    var isAccepted: Bool { facts["expected"]?.string?.hasPrefix("accept") == true }
    var challenge: [UInt8] { description?["attestationChallenge_base64"]?.string.flatMap { Base64.decode($0) } ?? [] }

    /// The app that made the key.
    var identity: AndroidIdentity {
        let application = description?["softwareEnforced"]?["attestationApplicationId"]
        return AndroidIdentity(
            package: application?["packages"]?.array?.first?["name"]?.string ?? "none",
            signingDigests: (application?["signatureDigests"]?.array ?? []).compactMap {
                $0.string.flatMap { Hex.decode($0) }
            })
    }

    /// What a strict policy says of certificates, in the order of the provider.
    func judge(_ certificates: [[UInt8]], _ list: RevocationList, at time: Instant) throws(AndroidKeyRefusal)
        -> AttestedDevice
    {
        let rules: AndroidKeyRules
        do {
            rules = try AndroidKeyRules(Self.strict, identity)
        } catch {
            throw AndroidKeyRefusal(AndroidKeyReasons.keyProperties, "\(error)")
        }
        let chain = try AndroidChain(der: certificates)
        let device = try rules.judge(chain, challenge: challenge)
        try rules.judge(device, at: time)
        if let status = list.status(of: device.revocationNames) {
            throw AndroidKeyRefusal(AndroidKeyReasons.revoked, status.word)
        }
        try Self.verifier.verify(chain, at: time)
        return device
    }

    static let verifier: AndroidKeyVerifier = {
        do {
            return try AndroidKeyVerifier()
        } catch {
            fatalError("\(error)")
        }
    }()

    /// The section without a key.
    private static var strict: AndroidKeyConfiguration {
        get throws { try JSONDecoder().decode(AndroidKeyConfiguration.self, from: Data("{}".utf8)) }
    }
}
