import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import AssayTesting
import Testing

@testable import AssayVerifier

/// How many keys a stranger's token makes the server try.
@Suite("Keys that are tried for a token")
struct KeyTableTests {
    private static let keys = Result {
        try (0..<64).map { try PrivateKey.generate(.ec($0 < 40 ? .p384 : .p256)).publicKey }
    }

    /// 40 keys of P-384, then 24 of P-256, with names except the first few of the one kind.
    private func table(_ count: Int, unnamed: Int = 0) throws -> KeyTable {
        let keys = try Self.keys.get().prefix(count).enumerated().map { index, key in
            index < unnamed ? JWK(key) : JWK(signing: key, keyID: "k\(index)")
        }
        return KeyTable(keys)
    }

    private func header(_ algorithm: JWSAlgorithm, _ keyID: String?) throws -> JWSHeader {
        var members = [JSONMember("alg", .string(algorithm.rawValue))]
        if let keyID { members.append(JSONMember("kid", .string(keyID))) }
        let parts = [JSON.object(members).encoded, Array("{}".utf8), [1]].map { Base64.encodeURL($0) }
        return try UnverifiedJWT(parts.joined(separator: ".")).header
    }

    @Test(
        "A token that names no key is tried with few keys, and one that names an unknown key with none",
        arguments: [
            (64, 0, .es384, nil, 0, .keyUnknown), (4, 0, .es384, nil, 4, nil), (5, 0, .es384, nil, 0, .keyUnknown),
            (64, 3, .es384, nil, 3, nil), (64, 64, .es384, nil, 4, nil), (64, 64, .es384, "x", 4, nil),
            (64, 0, .es384, "x", 0, .keyUnknown), (64, 2, .es384, "x", 2, nil), (64, 2, .es384, "k7", 1, nil),
            (64, 0, .es256, "k7", 0, .algorithm), (40, 0, .es256, nil, 0, .algorithm),
            (0, 0, .es256, nil, 0, .keyUnknown),
            (64, 0, .rs256, "k7", 0, .algorithm),
        ] as [(Int, Int, JWSAlgorithm, String?, Int, JWTFault?)])
    func bounded(count: Int, unnamed: Int, algorithm: JWSAlgorithm, keyID: String?, tried: Int, fault: JWTFault?) throws
    {
        let table = try table(count, unnamed: unnamed)
        let header = try header(algorithm, keyID)
        do throws(JWTFault) {
            #expect(try table.keys(for: header).count == tried)
            #expect(fault == nil)
        } catch {
            #expect(error == fault)
        }
    }

    @Test(
        "A document whose keys without a name are too many is refused with the policy, and used as far as it goes if fetched"
    )
    func unnamed() async throws {
        let log = RecordingLog()
        let keys = try Self.keys.get().prefix(6).map { key in
            JSON.object((JWK(key).json.members ?? []).filter { $0.name != "alg" })
        }
        let document = JSON.object(["keys": .array(keys)]).encoded
        var host = PluginHost(
            clock: ManualClock(TestIssuer.now).hostClock, store: FailingStore(NoStore()),
            secrets: SecretSource { _ throws(SecretError) in document }, logger: log.logger)
        let error = #expect(throws: ConfigurationError.self) {
            try IssuerKeys.configured("env:KEYS", at: ["jwks"], host: host)
        }
        #expect(
            error?.message.contains("more than 4 keys for ES384 have no kid") == true, "\(String(describing: error))")
        #expect(error?.path == ["jwks"])
        host.http = ScriptedHTTP([.success(OutboundResponse(status: 200, body: document))])
        let published = try IssuerKeys.configured("https://login.example.com/jwks", at: [], host: host)
        await #expect(throws: JWTFault.algorithm) { try await published.verify(try TestIssuer().token()) }
        #expect(log.lines.count == 1 && log.lines.first?.contains("skipped=2") == true, "\(log.lines)")
    }

    @Test(
        "All that name one document under one host share its keys, which are fetched once and dropped with the last user"
    )
    func shared() async throws {
        let issuer = try TestIssuer()
        let answer = ScriptedHTTP.Answer.success(OutboundResponse(status: 200, body: issuer.document()))
        let http = ScriptedHTTP([answer, answer])
        let host = TestIssuer.host(http)
        // As a plugin has it: its calls are counted by a client of its own.
        var plugin = host
        plugin.http = NoOutboundHTTP()
        plugin.uncountedHTTP = http
        let url = "https://login.example.com/jwks"
        do {
            let all = try [host, plugin, host].map { try IssuerKeys.configured(url, at: [], host: $0) }
            for keys in all {
                _ = try await keys.verify(try issuer.token())
                #expect(keys.isSame(as: all[0]))
            }
            #expect(http.requests.count == 1)
            let other = try IssuerKeys.configured("\(url)/other", at: [], host: host)
            #expect(!other.isSame(as: all[0]))
        }
        _ = try await IssuerKeys.configured(url, at: [], host: host).verify(try issuer.token())
        #expect(http.requests.count == 2)
    }

    @Test("A token is verified by no key of another set of its issuer")
    func apart() throws {
        let (one, two) = (IssuerKeys.fixed([]), IssuerKeys.fixed([]))
        #expect(one.isSame(as: one) && !one.isSame(as: two))
    }
}
