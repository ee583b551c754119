import AssayCore
import AssayCrypto
import AssayTesting
import Testing

@testable import AssayAppAttest

/// A sample that is read otherwise than its writer meant it is judged by the wrong values, and nobody notices.
@Suite("Samples of evidence")
struct AppAttestSampleTests {
    private static let keyID = [UInt8](repeating: 0xA5, count: 32)
    private static let hash = [UInt8](repeating: 7, count: 32)

    private func sample(_ members: [String: JSON]) throws -> AppAttestSample {
        try AppAttestSample(
            .object([JSONMember("kind", "attestation")] + members.map { JSONMember($0.key, $0.value) }), place: "here")
    }

    @Test(
        "The three kinds are known by their exact names",
        arguments: [("attestation", true), ("assertion", true), ("receipt", true), ("Receipt", false), ("", false)])
    func kinds(_ kind: String, _ isKnown: Bool) throws {
        if isKnown {
            #expect(try AppAttestSample(["kind": .string(kind)], place: "here").kind.rawValue == kind)
        } else {
            let error = #expect(throws: AppAttestSampleError.self) {
                try AppAttestSample(["kind": .string(kind)], place: "here")
            }
            #expect(error?.description == "`kind` must be attestation, assertion or receipt")
        }
    }

    @Test("A sample is named by its source, otherwise by its place")
    func source() throws {
        #expect(try sample([:]).source == "here")
        #expect(try sample(["source": "iPhone"]).source == "iPhone")
    }

    @Test(
        "A name that is nearly one of a field's is an error; one that differs more is a note",
        arguments: [
            ("app_Id", "app_id"), ("appid", "app_id"), ("apid", "app_id"), ("key_id_base46", "key_id_base64"),
            ("environments", "environment"), ("valid_att", "valid_at"), ("", nil), ("note", nil), ("ap", nil),
            ("x_app_id_x", nil), ("environment" + String(repeating: "t", count: 30), nil),
        ] as [(String, String?)])
    func misspelled(_ name: String, _ meant: String?) throws {
        guard let meant else {
            _ = try sample([name: "any"])
            return
        }
        let error = #expect(throws: AppAttestSampleError.self) { try sample([name: "any"]) }
        #expect(error?.description == "`\(name)` is not read; is `\(meant)` meant?")
    }

    @Test("A key identifier is read in each of its forms")
    func keyIDs() throws {
        let standard = Base64.encode(Self.keyID)
        let digits = Hex.encode(Self.keyID)
        for (name, text) in [
            ("key_id_base64", standard), ("key_id_base64", digits), ("key_id_hex", digits),
            ("key_id_hex", digits.uppercased()), ("key_id_base64", standard.replacing("=", with: "")),
        ] {
            #expect(try sample([name: .string(text)]).keyID() == Self.keyID, "\(name): \(text)")
        }
        let url = [UInt8](repeating: 0xFB, count: 32)
        let text = Base64.encode(url).replacing("+", with: "-").replacing("/", with: "_")
        #expect(try sample(["key_id_base64": .string(text)]).keyID() == url)
    }

    @Test("What is no key identifier is refused by the name of its field")
    func wrongKeyIDs() {
        for (name, value) in [
            ("key_id_base64", JSON.string(Base64.encode([UInt8](repeating: 1, count: 31)))),
            ("key_id_base64", .string(Base64.encode([UInt8](repeating: 1, count: 33)))),
            ("key_id_hex", .string(Base64.encode(Self.keyID))), ("key_id_hex", "a5"), ("key_id_base64", ""),
        ] {
            let error = #expect(throws: AppAttestSampleError.self) { try sample([name: value]).keyID() }
            #expect(error?.description.hasPrefix("`\(name)` is not a key identifier: 32 bytes") == true, "\(value)")
        }
        let missing = #expect(throws: AppAttestSampleError.self) { try sample([:]).keyID() }
        #expect(missing?.description == "`key_id_base64` is missing")
    }

    @Test(
        "The client data hash is what is given, or the digest of what is given in its place",
        arguments: [
            (["client_data_hash_base64": .string(Base64.encode(hash))], hash),
            (["client_data_hash_hex": .string(Hex.encode(hash))], hash),
            (["client_data_hash_hex": .string(Hex.encode(hash)), "client_data_hash_base64": nil], hash),
            (["challenge_utf8": "a"], SHA256.hash(Array("a".utf8))),
            (["challenge_utf8": "é", "challenge_base64": "w6k="], SHA256.hash([0xC3, 0xA9])),
            (["challenge_base64": "AQI=", "client_data_hash_is": "sha256(challenge)"], SHA256.hash([1, 2])),
            (["challenge_base64": "AQI=", "client_data_hash_is": "challenge"], [1, 2]),
            (["client_data_utf8": "{}", "challenge_utf8": "other"], SHA256.hash(Array("{}".utf8))),
            (["client_data_base64": ""], SHA256.hash([])),
            (
                [
                    "client_data_hash_base64": "AQI=", "challenge_base64": "AQI=", "client_data_hash_is": "challenge",
                ], [1, 2]
            ),
        ] as [([String: JSON], [UInt8])])
    func hashes(_ members: [String: JSON], _ expected: [UInt8]) throws {
        #expect(try sample(members).clientDataHash() == expected)
    }

    @Test(
        "Values that contradict each other, or cannot be read, are refused, and no guess is made",
        arguments: [
            (["client_data_hash_hex": "0g"], "`client_data_hash_hex` is not hexadecimal"),
            (["client_data_hash_base64": "*"], "`client_data_hash_base64` is not Base 64"),
            (["challenge_base64": "*"], "`challenge_base64` is not Base 64"),
            (["challenge_utf8": 5], "`challenge_utf8` is missing"),
            (
                ["client_data_hash_base64": "AQI=", "client_data_hash_hex": "0103"],
                "`client_data_hash_base64` and `client_data_hash_hex` do not agree"
            ),
            (
                ["challenge_base64": "AQI=", "challenge_utf8": "a"],
                "`challenge_base64` and `challenge_utf8` do not agree"
            ),
            (
                ["client_data_base64": "AQI=", "client_data_utf8": "a"],
                "`client_data_base64` and `client_data_utf8` do not agree"
            ),
            (
                ["client_data_hash_base64": "AQI=", "challenge_utf8": "a", "client_data_hash_is": "sha256(challenge)"],
                "the client data hash and the challenge do not agree"
            ),
            (
                ["client_data_hash_base64": "AQI=", "challenge_utf8": "a", "client_data_hash_is": "challenge"],
                "the client data hash and the challenge do not agree"
            ),
            (
                ["challenge_utf8": "a", "client_data_hash_is": "Challenge"],
                "`client_data_hash_is` must be `sha256(challenge)`, which is the default, or `challenge`"
            ),
            (
                ["challenge": "a"],
                "`client_data_hash_base64` is missing, and so are `challenge_utf8`, `challenge_base64`, "
                    + "`client_data_utf8` and `client_data_base64`, which are hashed; `challenge` is not read"
            ),
        ] as [([String: JSON], String)])
    func contradictions(_ members: [String: JSON], _ message: String) {
        let error = #expect(throws: AppAttestSampleError.self) { try sample(members).clientDataHash() }
        #expect(error?.description == message)
    }

    @Test(
        "A counter is a whole number of 32 bits, and 0 where none is given",
        arguments: [
            (nil, 0), (.null, 0), (0, 0), (4_294_967_295, .max), (4_294_967_296, nil), (-1, nil), ("1", nil),
            (.number(1.5), nil),
        ] as [(JSON?, UInt32?)])
    func counters(_ value: JSON?, _ expected: UInt32?) throws {
        let sample = try sample(value.map { ["previous_counter": $0] } ?? [:])
        guard let expected else {
            let error = #expect(throws: AppAttestSampleError.self) { try sample.counter("previous_counter") }
            #expect(error?.description == "`previous_counter` must be a number from 0 to 4294967295")
            return
        }
        #expect(try sample.counter("previous_counter") == expected)
    }

    // MARK: - Whole samples

    /// Members that make a sample one that says everything, though its evidence is none.
    private static let whole: [String: JSON] = [
        "kind": "attestation", "app_id": "ABCDE12345.com.example.app", "attestation_base64": "AQID",
        "key_id_base64": .string(Base64.encode(keyID)), "client_data_hash_base64": "AQID",
        "valid_at": "2026-11-21T12:00:00Z",
    ]

    private static func pem(_ kind: KeyKind) throws -> JSON {
        .string(String(decoding: try PrivateKey.generate(kind).publicKey.pem(), as: UTF8.self))
    }

    private func verify(_ change: [String: JSON?], at time: Instant? = nil) throws -> JSON {
        let samples = try AppAttestSamples(trustAnchor: nil, receiptTrustAnchor: nil, at: time, requiresReceipt: false)
        var members = Self.whole
        for (name, value) in change { members[name] = value }
        return try samples.verify(.object(members.map { JSONMember($0.key, $0.value) }), place: "here").report
    }

    @Test(
        "What is missing or malformed is no refusal of the evidence, but an error in the sample",
        arguments: [
            (["app_id": nil], "`app_id` must be a team identifier, a dot, and a bundle identifier"),
            (["app_id": "com.example.app"], "`app_id` must be a team identifier, a dot, and a bundle identifier"),
            (["attestation_base64": nil], "`attestation_base64` is missing"),
            (["attestation_base64": "*"], "`attestation_base64` is not Base 64"),
            (["environment": "sandbox"], "`environment` must be development or production"),
            (["environment": ["production"]], "`environment` is not a text"),
            (["client_data_hash_is": 5], "`client_data_hash_is` is not a text"),
            (["key_id_base64": 5], "`key_id_base64` is not a text"),
            (["valid_at": nil], "`valid_at` is missing; give a time with --at"),
            (["valid_at": 5], "`valid_at` is not a text"),
            (["valid_at": "2026-11-21"], "`2026-11-21` is not an RFC 3339 time"),
            (["kind": "assertion"], "`public_key_pem` is missing"),
            (
                ["kind": "assertion", "public_key_pem": try? pem(.rsa(bits: 2048))],
                "`public_key_pem` is not a key on P-256"
            ),
            (["kind": "assertion", "public_key_pem": try? pem(.ec(.p256))], "`assertion_base64` is missing"),
            (["kind": "receipt"], "`receipt_base64` is missing"),
        ] as [([String: JSON?], String)])
    func malformed(_ change: [String: JSON?], _ message: String) {
        let error = #expect(throws: AppAttestSampleError.self) { try verify(change) }
        #expect(error?.description == message)
    }

    @Test("A key on another curve refuses the assertion, whatever its evidence is")
    func otherCurve() throws {
        let report = try verify(["kind": "assertion", "public_key_pem": Self.pem(.ec(.p384)), "assertion_base64": ""])
        #expect(report["reason"] == "assertion_key_invalid")
        #expect(report["detail"]?.string?.hasPrefix("expected a key on P-256, found key ") == true)
    }

    @Test("A time that is given for all samples needs none in them, and is not overruled by theirs")
    func time() throws {
        let now = Instant(seconds: 1_795_262_400)
        #expect(try verify(["valid_at": nil], at: now)["verdict"] == "refused")
        #expect(try verify(["valid_at": "noon"], at: now)["verdict"] == "refused")
    }

    @Test("A text that is no PEM of a key is an error that says so, and does not repeat it")
    func publicKeys() throws {
        for text in ["", "no key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"] {
            let error = #expect(throws: AppAttestSampleError.self) {
                try verify(["kind": "assertion", "public_key_pem": .string(text)])
            }
            #expect(error?.description.hasPrefix("`public_key_pem` is not a public key: ") == true, "\(text)")
            #expect(error?.description.contains("AAAA") == false)
        }
    }

    @Test("An anchor that is no certificate, or one of a key that Apple does not use, is refused before any sample")
    func anchors() throws {
        for bytes in [[], [0], Array("-----BEGIN CERTIFICATE-----\n".utf8)] as [[UInt8]] {
            for isReceipts in [false, true] {
                let error = #expect(throws: AppAttestSampleError.self) {
                    try AppAttestSamples(
                        trustAnchor: isReceipts ? nil : bytes, receiptTrustAnchor: isReceipts ? bytes : nil, at: nil,
                        requiresReceipt: false)
                }
                #expect(error?.description.hasPrefix("not a certificate that can be trusted: ") == true)
            }
        }
    }
}
