import AssayCBOR
internal import AssayCore
import AssayCrypto
internal import AssayKit
import AssayTesting
import Fuzz

/// Authenticator data of assertions and of attestations.
enum AuthenticatorDataSeeds {
    static func all(_ scene: FuzzScene) throws -> [Seed] {
        let assertion = data(.iOS27, counter: 1)
        var attestation = data(.iOS27, counter: 0)
        attestation.credential = SimulatedAuthenticatorData.Credential(
            aaguid: FuzzScene.app.environment.aaguid, identifier: scene.key.identifier,
            publicKey: SimulatedCOSEKey(scene.key).encoded)
        var seeds = [
            seed("good-assertion", assertion) { _ in },
            seed("good-assertion-bare", assertion) { $0.extensions = [] },
            seed("good-assertion-macos27", data(.macOS27, counter: .max)) { _ in },
            seed("good-assertion-unknown-extension", assertion) { $0.extensions = map(["other": .array([.null])]) },
            seed("good-attestation", attestation) { _ in },
            seed("good-attestation-bare", attestation) { $0.extensions = [] },
            seed("good-attestation-production", attestation) {
                $0.credential?.aaguid = SimulatedEnvironment.production.aaguid
            },
            seed("bad-counter_not_advanced", assertion) { $0.counter = 0 },
            seed("bad-app_id_mismatch", assertion) { $0.relyingPartyIDHash[0] ^= 1 },
            seed("bad-authenticator_data_trailing_bytes", assertion) { $0.trailing = [0] },
            seed("bad-authenticator_data_truncated", assertion) {
                $0.relyingPartyIDHash.removeLast()
                $0.extensions = []
            },
            seed("bad-evidence_too_large", assertion) { $0.trailing = [UInt8](repeating: 0, count: 2048) },
            seed("bad-cbor_truncated", assertion) { $0.extensions.removeLast() },
            seed("bad-cbor_duplicate_key", assertion) {
                $0.extensions = CBOREncoder().encode(.map([CBORPair(.text("a"), .null), CBORPair(.text("a"), .null)]))
            },
            seed("bad-extension_map_malformed", assertion) {
                $0.extensions = map(["apple_validation_category_01": .unsigned(4)])
            },
            seed("bad-extension_map_malformed-key", assertion) {
                $0.extensions = CBOREncoder().encode(.map([CBORPair(.unsigned(1), .null)]))
            },
        ]
        // Bad in an attestation, and the reason given is that for an assertion.
        attestation.credential?.identifier[0] ^= 1
        seeds.append(seed("bad-extension_map_malformed-credential", attestation) { _ in })
        return seeds
    }

    private static func data(_ system: SimulatedSystem, counter: UInt32) -> SimulatedAuthenticatorData {
        let extensions = FuzzScene.app.extensions(on: system, codeDirectoryHash: SHA256.hash([1]))
        return SimulatedAuthenticatorData(
            relyingPartyIDHash: SHA256.hash(Array(FuzzScene.app.appID.utf8)), flags: system.flags, counter: counter,
            credential: nil, extensions: extensions.map { CBOREncoder().encode(.map($0)) } ?? [])
    }

    private static func map(_ pairs: KeyValuePairs<String, CBORValue>) -> [UInt8] {
        CBOREncoder().encode(.map(pairs.map { CBORPair(.text($0.key), $0.value) }))
    }

    private static func seed(
        _ name: String, _ data: SimulatedAuthenticatorData, _ change: (inout SimulatedAuthenticatorData) -> Void
    ) -> Seed {
        var data = data
        change(&data)
        return Seed(.authenticatorData, name, data.bytes)
    }
}
