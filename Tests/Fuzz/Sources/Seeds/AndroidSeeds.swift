internal import AssayCore
import AssayTesting
import Fuzz

/// Chains of simulated devices with Android, and what they say of their keys.
enum AndroidSeeds {
    static func all(_ scene: FuzzScene) throws -> [Seed] {
        let key = try scene.androidKey()
        let chain = key.chain
        let kept = Kept()
        _ = try scene.androidKey { text in
            kept.bytes = text
            return text
        }
        let description = kept.bytes
        // A certificate that the attested key signed.
        let forged = try scene.androidKey(signedBy: key.key).chain
        var flipped = chain
        flipped[0][flipped[0].count - 1] ^= 1
        var malformed = chain
        malformed[1][4] ^= 0xFF
        let chains: [(String, [[UInt8]])] = [
            ("good-factory", chain), ("good-without-root", chain.dropLast()),
            ("bad-android_chain_size", [chain[0]]), ("bad-android_signature_invalid", flipped),
            ("bad-android_chain_extended", [forged[0]] + chain),
            ("bad-android_description_missing", Array(chain.dropFirst())),
            ("bad-android_certificate_malformed", malformed), ("bad-der", [chain[0], Array(chain[1].dropLast())]),
        ]
        return chains.map { Seed(.androidChain, $0.0, $0.1.flatMap { $0 }) } + [
            Seed(.androidDescription, "good-locked", description),
            Seed(.androidDescription, "bad-truncated", Array(description.dropLast())),
            Seed(.androidDescription, "bad-trailing_bytes", description + [0]),
        ]
    }

    // One thread makes the seeds.
    private final class Kept: @unchecked Sendable {
        var bytes: [UInt8] = []
    }
}
