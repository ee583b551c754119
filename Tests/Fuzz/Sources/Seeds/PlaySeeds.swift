import AssayCore
import AssayTesting
import Fuzz

/// Tokens of a simulated Play Integrity, and their parts.
enum PlaySeeds {
    static func all(_ scene: FuzzScene) throws -> [Seed] {
        try tokens(scene) + headers(scene) + contents(scene) + verdicts
    }

    private static func tokens(_ scene: FuzzScene) throws -> [Seed] {
        let token = try scene.playToken(holding: scene.playToken.content)
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        func joined(_ parts: [ArraySlice<UInt8>]) -> [UInt8] { Array(parts.joined(separator: [UInt8(ascii: ".")])) }
        var flipped = parts
        flipped[3] =
            [flipped[3].first == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")] + flipped[3].dropFirst()
        return [
            Seed(.playToken, "good-classic", token),
            Seed(.playToken, "bad-play_token_not_opened", joined(flipped)),
            Seed(
                .playToken, "bad-play_token_not_opened-key-of-another",
                joined([parts[0], Array(repeating: UInt8(ascii: "A"), count: parts[1].count)[...]] + parts[2...])),
            Seed(.playToken, "bad-play_token_malformed-four-parts", joined(Array(parts.dropLast()))),
            Seed(.playToken, "bad-play_token_malformed-short-tag", Array(token.dropLast(4))),
            Seed(.playToken, "bad-play_token_malformed-padding", token + [UInt8(ascii: "=")]),
        ]
    }

    private static func headers(_ scene: FuzzScene) throws -> [Seed] {
        let (header, key, _, _) = try scene.playToken
        let line = [UInt8(ascii: "\n")]
        let texts = [
            ("good-more-members", #"{"kid":"a","enc":"A256GCM", "alg":"A256KW","typ":"JWE"}"#),
            ("bad-play_token_malformed-algorithm", #"{"alg":"dir","enc":"A256GCM"}"#),
            ("bad-play_token_malformed-encryption", #"{"alg":"A256KW","enc":"A128GCM"}"#),
            ("bad-play_token_malformed-zip", #"{"alg":"A256KW","enc":"A256GCM","zip":"DEF"}"#),
            ("bad-play_token_malformed-critical", #"{"alg":"A256KW","enc":"A256GCM","crit":["exp"],"exp":1}"#),
            ("bad-play_token_malformed-twice", #"{"alg":"A256KW","alg":"dir","enc":"A256GCM"}"#),
        ]
        return texts.map { Seed(.playHeader, $0.0, Array($0.1.utf8)) } + [
            Seed(.playHeader, "good-plain", header), Seed(.playHeader, "good-key", header + line + key),
            Seed(.playHeader, "bad-play_token_malformed-long-key", header + line + key + key),
            Seed(.playHeader, "bad-play_token_malformed-short-key", header + line + key.prefix(16)),
            Seed(.playHeader, "bad-key_length", header + line + key.prefix(20)),
        ]
    }

    private static func contents(_ scene: FuzzScene) throws -> [Seed] {
        let (_, _, content, payload) = try scene.playToken
        let text = String(decoding: content, as: UTF8.self).split(separator: ".")
        let none = "\(Base64.encodeURL(Array(#"{"alg":"none"}"#.utf8))).\(text[1])."
        return [
            Seed(.playContent, "good-signed", content),
            Seed(
                .playContent, "bad-play_signature_invalid-other-key", try scene.playContent(of: payload, isForged: true)
            ),
            Seed(.playContent, "bad-play_signature_invalid-none", Array(none.utf8)),
            Seed(.playContent, "bad-play_signature_invalid-no-signature", Array("\(text[0]).\(text[1]).".utf8)),
            Seed(.playContent, "bad-play_signature_invalid-bare", payload),
            Seed(
                .playContent, "bad-play_verdict_malformed-long",
                try scene.playContent(of: [UInt8](repeating: 0x20, count: 16_384))),
        ]
    }

    private static var verdicts: [Seed] {
        var verdict = SimulatedPlayVerdict(nonce: nil, made: FuzzScene.now)
        verdict.requestHash = "YSBjaGFsbGVuZ2Ugb2YgdGhlIGFwcA"
        (verdict.sdkVersion, verdict.activity, verdict.recall) = (36, "LEVEL_1", [true, false, true])
        (verdict.accountActivity, verdict.appsDetected) = ("TYPICAL_BASIC", ["KNOWN_INSTALLED", "UNKNOWN_CAPTURING"])
        (verdict.playProtect, verdict.locationSpoofing) = ("NO_ISSUES", ["LOW_RISK_NETWORK"])
        verdict.isTesting = true
        verdict.labels = ["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY", "MEETS_STRONG_INTEGRITY"]
        let texts = [
            ("good-least", #"{"requestDetails":{"timestampMillis":1795262400000}}"#),
            (
                "good-words-of-tomorrow",
                #"{"requestDetails":{"timestampMillis":"1"},"x":[{}],"deviceIntegrity":{"deviceRecognitionVerdict":["MEETS_X"]}}"#
            ),
            ("bad-play_verdict_malformed-no-time", #"{"requestDetails":{"nonce":"abc"}}"#),
            (
                "bad-play_verdict_malformed-both",
                #"{"requestDetails":{"nonce":"a","requestHash":"b","timestampMillis":"1"}}"#
            ),
            (
                "bad-play_verdict_malformed-negative",
                #"{"requestDetails":{"timestampMillis":"1"},"appIntegrity":{"versionCode":-1}}"#
            ),
            ("bad-play_verdict_malformed-twice", #"{"requestDetails":{"timestampMillis":"1"},"requestDetails":{}}"#),
            ("bad-play_verdict_malformed-list", "[]"),
        ]
        return [Seed(.playVerdict, "good-all", verdict.payload.encoded)]
            + texts.map { Seed(.playVerdict, $0.0, Array($0.1.utf8)) }
    }
}
