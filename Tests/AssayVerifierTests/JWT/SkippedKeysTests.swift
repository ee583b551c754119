import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import AssayTesting
import Logging
import Synchronization
import Testing

@testable import AssayVerifier

/// Keys of an issuer that cannot be used, beside one that can.
@Suite("Keys of issuers that are skipped")
struct SkippedKeysTests {
    private static let bad = [
        #"{"kty":"RSA","e":"AQAB","kid":"a"}"#, #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":"b"}"#,
        #"{"kty":"oct","k":"AAAA"}"#, "1",
    ]

    private let log = RecordingLog()
    private let counts = Counts()
    private let clock = ManualClock(TestIssuer.now)

    private func host(_ http: any OutboundHTTP = NoOutboundHTTP(), secrets: SecretSource = .system) -> PluginHost {
        PluginHost(
            clock: clock.hostClock, store: FailingStore(NoStore()), secrets: secrets, http: http,
            logger: log.logger,
            // A plugin's meter: all issuers are counted together nevertheless.
            meter: Meter { [counts] scope, metric, change, _ in counts.add("\(scope)\(metric.name) \(change)") }
                .scoped(to: "plugin"))
    }

    private func document(_ issuer: TestIssuer, _ bad: [String]) -> [UInt8] {
        let good = String(decoding: issuer.jwk.json.encoded, as: UTF8.self)
        return Array("{\"keys\":[\((bad + [good]).joined(separator: ","))]}".utf8)
    }

    private func answer(_ document: [UInt8]) -> ScriptedHTTP.Answer {
        .success(
            OutboundResponse(status: 200, headers: [OutboundHeader("cache-control", "max-age=300")], body: document))
    }

    @Test("The others are used, and the log says once what is skipped, and again when that changes")
    func published() async throws {
        let issuer = try TestIssuer()
        let http = ScriptedHTTP([
            answer(document(issuer, Self.bad)), answer(document(issuer, Self.bad)),
            answer(document(issuer, Array(Self.bad.prefix(1)))), answer(document(issuer, [])),
            answer(document(issuer, [])),
        ])
        let keys = IssuerKeys.published(
            at: try #require(EndpointURL("https://login.example.com/jwks")), host: host(http))
        var counts: [Int] = []
        for _ in 0..<5 {
            for _ in 0..<3 {
                #expect(try await keys.verify(try issuer.token(at: clock.now)).claims.subject == "somebody")
            }
            counts.append(log.lines.count)
            clock.advance(by: .seconds(300))
        }
        #expect(http.requests.count == 5)
        #expect(counts == [1, 1, 2, 2, 2])
        #expect(self.counts.all == [4, 4, 1].map { "issuer_keys_skipped_total add(\($0).0)" })
        let line = try #require(log.lines.first)
        for part in ["skipped=4", "used=1", "source=https://login.example.com/jwks", "keys[0]: malformed JWK: no n"] {
            #expect(line.contains(part), "\(line)")
        }
    }

    @Test("A line of the log describes a few of them, and nothing of what they say")
    func bounded() async throws {
        let issuer = try TestIssuer()
        let bad = Array(repeating: #"{"kty":"EVIL LINE","kid":"EVIL"}"#, count: 63)
        let http = ScriptedHTTP([answer(document(issuer, bad))])
        let keys = IssuerKeys.published(
            at: try #require(EndpointURL("https://login.example.com/jwks")), host: host(http))
        _ = try await keys.verify(try issuer.token())
        let line = try #require(log.lines.first)
        #expect(log.lines.count == 1 && line.contains("skipped=63") && line.utf8.count < 1000)
        #expect(!line.contains("EVIL"))
    }

    @Test("Keys of a document that is read with the policy are skipped as well; with none left it is refused")
    func configured() async throws {
        let issuer = try TestIssuer()
        let documents = [document(issuer, Self.bad), Array("{\"keys\":[\(Self.bad.joined(separator: ","))]}".utf8)]
        func read(_ index: Int) throws -> IssuerKeys {
            let secrets = SecretSource { _ throws(SecretError) in documents[index] }
            return try IssuerKeys.configured("env:KEYS", at: ["jwks"], host: host(secrets: secrets))
        }
        #expect(try await read(0).verify(try issuer.token()).claims.subject == "somebody")
        #expect(log.lines.count == 1 && self.counts.all == ["issuer_keys_skipped_total add(4.0)"])
        let error = #expect(throws: ConfigurationError.self) { try read(1) }
        #expect(error?.message.contains("keys[0]: malformed JWK: no n") == true, "\(String(describing: error))")
    }

    @Test("Of two keys of one name a token's algorithm chooses")
    func names() async throws {
        let (ec, rsa) = (try TestIssuer("one", .ec(.p256)), try TestIssuer("one", .rsa(bits: 2048)))
        for issuers in [[ec, rsa], [rsa, ec]] {
            let http = ScriptedHTTP([answer(JWKSet(issuers.map(\.jwk)).json.encoded)])
            let keys = IssuerKeys.published(
                at: try #require(EndpointURL("https://login.example.com/jwks")), host: host(http))
            for issuer in issuers {
                #expect(try await keys.verify(try issuer.token()).header.keyID == "one")
            }
        }
        #expect(log.lines.isEmpty)
    }
}

/// What was counted, in its order.
private final class Counts: Sendable {
    private let counted = Mutex<[String]>([])

    var all: [String] { counted.withLock { $0 } }

    func add(_ change: String) { counted.withLock { $0.append(change) } }
}
