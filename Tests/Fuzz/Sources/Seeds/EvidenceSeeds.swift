import AssayCBOR
internal import AssayCore
internal import AssayKit
import AssayTesting
import Fuzz

/// What simulated devices send, and what no device sends.
enum EvidenceSeeds {
    static func all(_ scene: FuzzScene) throws -> [Seed] {
        var seeds: [Seed] = []
        for (name, system) in systems {
            seeds.append(Seed(.attestation, "good-\(name)", try attestation(scene, system)))
            seeds.append(Seed(.assertion, "good-\(name)", try assertion(scene, system)))
        }
        for (name, options) in attestations {
            seeds.append(Seed(.attestation, name, try attestation(scene, .iOS27, options)))
        }
        for (name, options) in assertions {
            seeds.append(Seed(.assertion, name, try assertion(scene, .iOS27, options)))
        }
        return seeds
    }

    private static let systems: [(String, SimulatedSystem)] = [
        ("ios26", .iOS26), ("ios27", .iOS27), ("macos27", .macOS27),
    ]

    private static let attestations: [(String, AttestationOptions)] = [
        ("bad-nonce_mismatch", changed { $0.nonce = { $0[0] ^= 1 } }),
        ("bad-counter_not_zero", changed { $0.authenticatorData = { $0.counter = 1 } }),
        ("bad-credential_id_length", changed { $0.authenticatorData = { $0.credential?.declaredLength = 33 } }),
        ("bad-nonce_extension_missing", changed { $0.leaf = { $0.extensions.remove(at: 5) } }),
        ("bad-leaf_expired", changed { $0.leaf = { $0.notAfter = $0.notBefore } }),
        ("bad-x5c_count", changed { $0.chain = { $0.append($0[0]) } }),
        ("bad-intermediate_malformed", changed { $0.chain = { $0[1] = Array($0[1].dropLast(7)) } }),
        ("bad-receipt_client_data_hash_mismatch", changed { $0.receipt = { $0[.clientDataHash] = [1, 2, 3] } }),
        ("bad-receipt_missing", changed { $0.statement = { $0["receipt"] = nil } }),
        ("bad-format_unknown", changed { $0.object = { $0["fmt"] = .text("packed") } }),
        ("good-unknown-member", changed { $0.object = { $0["extra"] = .null } }),
        ("bad-cbor_unknown_key", changed { $0.object = { $0.append(CBORPair(.unsigned(1), .null)) } }),
        ("bad-cbor_truncated", changed { $0.encoded = { $0.removeLast(9) } }),
    ]

    private static let assertions: [(String, AssertionOptions)] = [
        ("bad-assertion_signature_invalid", changed { $0.message = { $0[0] ^= 1 } }),
        ("bad-counter_not_advanced", changed { $0.authenticatorData = { $0.counter = 0 } }),
        ("bad-app_id_mismatch", changed { $0.authenticatorData = { $0.relyingPartyIDHash[31] ^= 1 } }),
        ("bad-authenticator_data_missing", changed { $0.object = { $0["authenticatorData"] = nil } }),
        ("bad-cbor_type_unexpected", changed { $0.object = { $0["signature"] = .text("signature") } }),
        ("bad-cbor_not_deterministic", changed { $0.encoded = { $0 = [0xBF] + $0.dropFirst() + [0xFF] } }),
        ("bad-cbor_trailing_bytes", changed { $0.encoded = { $0.append(0) } }),
    ]

    private static func attestation(
        _ scene: FuzzScene, _ system: SimulatedSystem, _ options: AttestationOptions = AttestationOptions()
    ) throws -> [UInt8] {
        let device = scene.device(system)
        var options = options
        let change = options.receipt
        options.receipt = { template in
            FuzzScene.changeRoot(of: &template)
            change(&template)
        }
        return try device.attestKey(
            device.generateKey(), clientDataHash: FuzzScene.clientDataHash, app: FuzzScene.app, at: FuzzScene.now,
            options: options)
    }

    private static func assertion(
        _ scene: FuzzScene, _ system: SimulatedSystem, _ options: AssertionOptions = AssertionOptions()
    ) throws -> [UInt8] {
        let device = scene.device(system)
        return try device.generateAssertion(
            device.generateKey(), clientDataHash: FuzzScene.clientDataHash, app: FuzzScene.app, options: options)
    }

    private static func changed(_ change: (inout AttestationOptions) -> Void) -> AttestationOptions {
        var options = AttestationOptions()
        change(&options)
        return options
    }

    private static func changed(_ change: (inout AssertionOptions) -> Void) -> AssertionOptions {
        var options = AssertionOptions()
        change(&options)
        return options
    }
}
