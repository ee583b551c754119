import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import AssayTesting
import Synchronization
import Testing

@testable import AssayVerifier

@Suite("Keys of other issuers", .timeLimit(.minutes(20)))
struct IssuerKeysTests {
    private static let url = EndpointURL("https://login.example.com/jwks")

    private let clock = ManualClock(TestIssuer.now)

    private func published(_ http: ScriptedHTTP) throws -> IssuerKeys {
        .published(at: try #require(Self.url), host: TestIssuer.host(http, clock: clock))
    }

    private func answer(_ document: [UInt8], age: Int? = nil, tag: String? = nil) -> ScriptedHTTP.Answer {
        var headers: [OutboundHeader] = []
        if let age { headers.append(OutboundHeader("Cache-Control", "public, max-age=\(age)")) }
        if let tag { headers.append(OutboundHeader("ETag", tag)) }
        return .success(OutboundResponse(status: 200, headers: headers, body: document))
    }

    @Test("a key that is for encryption verifies nothing, also where it is given and not fetched")
    func otherUse() async throws {
        let keys = try TestIssuer()
        for (use, fault) in [("sig", nil), ("enc", .keyUnknown), ("SIG", .keyUnknown)] as [(String, JWTFault?)] {
            let members = (keys.jwk.json.members ?? []).filter { $0.name != "use" }
            let key = try JWK(.object(members + [JSONMember("use", .string(use))]))
            var found: JWTFault?
            do { _ = try await IssuerKeys.fixed([key]).verify(try keys.token()) } catch { found = error as? JWTFault }
            #expect(found == fault, "\(use)")
        }
    }

    @Test("a token is verified by the key that it names, fetched once for all")
    func fetchedOnce() async throws {
        let issuer = try TestIssuer()
        let http = ScriptedHTTP([answer(issuer.document())])
        let keys = try published(http)
        let token = try issuer.token()
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<50 { group.addTask { try await keys.verify(token).claims.subject } }
            for try await subject in group { #expect(subject == "somebody") }
        }
        #expect(http.requests.map(\.url) == [Self.url])
        #expect(http.requests.first?.header("Accept")?.contains("application/json") == true)
    }

    @Test("a token with an unknown key makes the document be fetched again, but not twice in 30 seconds")
    func unknownKey() async throws {
        let (one, two) = (try TestIssuer("one"), try TestIssuer("two"))
        let http = ScriptedHTTP([answer(one.document()), answer(one.document([two]))])
        let keys = try published(http)
        _ = try await keys.verify(try one.token())
        for _ in 0..<5 {
            await #expect(throws: JWTFault.keyUnknown) { try await keys.verify(try two.token()) }
        }
        #expect(http.requests.count == 1)
        clock.advance(by: .seconds(30))
        #expect(try await keys.verify(try two.token()).header.keyID == "two")
        #expect(http.requests.count == 2)
    }

    @Test("tokens with unknown keys cause one request in 30 seconds, and tokens with known keys never wait for it")
    func strangers() async throws {
        let (one, two) = (try TestIssuer("one"), try TestIssuer("two"))
        let http = GatedHTTP(document: one.document())
        let keys = IssuerKeys.published(at: try #require(Self.url), host: TestIssuer.host(http, clock: clock))
        await http.open()
        _ = try await keys.verify(try one.token())
        for _ in 0..<10 {
            clock.advance(by: .seconds(30))
            await http.close()
            let requests = http.count
            let strangers = (0..<20).map { number in
                Task { _ = try? await keys.verify(try TestIssuer("random \(number)").token()) }
            }
            while http.count == requests { await Task.yield() }
            // The server does not answer, and whoever has a known key does not notice.
            for _ in 0..<20 { _ = try await keys.verify(try one.token()) }
            await http.open()
            for stranger in strangers { await stranger.value }
            #expect(http.count == requests + 1)
        }
        // A rotation is seen anyway.
        clock.advance(by: .seconds(30))
        http.document.withLock { $0 = one.document([two]) }
        #expect(try await keys.verify(try two.token()).header.keyID == "two")
    }

    @Test("a client that hangs up does not make the next one ask again")
    func hangUp() async throws {
        let issuer = try TestIssuer()
        let http = GatedHTTP(document: issuer.document())
        let keys = IssuerKeys.published(at: try #require(Self.url), host: TestIssuer.host(http, clock: clock))
        for _ in 0..<20 {
            let stranger = Task { _ = try? await keys.verify(try TestIssuer("unknown").token()) }
            while http.count == 0 { await Task.yield() }
            stranger.cancel()
        }
        await http.open()
        _ = try await keys.verify(try issuer.token())
        #expect(http.count == 1)
    }

    @Test("a key that the server did not have is not asked for again for a minute; another one is")
    func missed() async throws {
        let (one, two, three) = (try TestIssuer("one"), try TestIssuer("two"), try TestIssuer("three"))
        let http = ScriptedHTTP([answer(one.document()), answer(one.document()), answer(one.document([three]))])
        let keys = try published(http)
        _ = try await keys.verify(try one.token())
        clock.advance(by: .seconds(30))
        await #expect(throws: JWTFault.keyUnknown) { try await keys.verify(try two.token()) }
        clock.advance(by: .seconds(30))
        await #expect(throws: JWTFault.keyUnknown) { try await keys.verify(try two.token()) }
        #expect(http.requests.count == 2)
        #expect(try await keys.verify(try three.token()).header.keyID == "three")
        http.add(answer(one.document([two])))
        clock.advance(by: .seconds(30))
        #expect(try await keys.verify(try two.token()).header.keyID == "two")
    }

    @Test("an old document decides without a wait while its server is down")
    func down() async throws {
        let issuer = try TestIssuer()
        let http = GatedHTTP(document: issuer.document())
        let keys = IssuerKeys.published(at: try #require(Self.url), host: TestIssuer.host(http, clock: clock))
        await http.open()
        _ = try await keys.verify(try issuer.token())
        clock.advance(by: .seconds(3600))
        http.document.withLock { $0 = [] }
        _ = try await keys.verify(try issuer.token())
        clock.advance(by: .seconds(30))
        await http.close()
        for _ in 0..<20 { _ = try await keys.verify(try issuer.token()) }
        await http.open()
        await keys.settle()
        #expect(http.count == 3)
    }

    @Test("an old document is asked for with its tag, and 304 keeps it")
    func notModified() async throws {
        let issuer = try TestIssuer()
        let http = ScriptedHTTP([
            answer(issuer.document(), age: 600, tag: "\"v1\""), .success(OutboundResponse(status: 304)),
        ])
        let keys = try published(http)
        _ = try await keys.verify(try issuer.token())
        clock.advance(by: .seconds(599))
        _ = try await keys.verify(try issuer.token())
        #expect(http.requests.count == 1)
        clock.advance(by: .seconds(1))
        _ = try await keys.verify(try issuer.token())
        #expect(http.requests.last?.header("if-none-match") == "\"v1\"")
    }

    @Test(
        "when the document cannot be had, the old one is used for a day, and then nothing is decided",
        arguments: [
            .failure(OutboundFailure(.timedOut, "x")), .success(OutboundResponse(status: 500)),
            .success(OutboundResponse(status: 200, body: Array("<html>".utf8))),
        ] as [ScriptedHTTP.Answer])
    func stale(failure: ScriptedHTTP.Answer) async throws {
        let issuer = try TestIssuer()
        let http = ScriptedHTTP([answer(issuer.document(), age: 0), failure])
        let keys = try published(http)
        _ = try await keys.verify(try issuer.token())
        // No document is good for less than five minutes.
        clock.advance(by: KeySetEndpoint.freshness.lowerBound)
        _ = try await keys.verify(try issuer.token())
        #expect(http.requests.count == 2)
        clock.advance(by: KeySetEndpoint.staleness)
        http.add(failure)
        await #expect(throws: KeysUnavailable.self) { try await keys.verify(try issuer.token()) }
        #expect(http.requests.count == 3)
    }

    @Test("without any document nothing is decided, and the server is not asked at every token")
    func unavailable() async throws {
        let issuer = try TestIssuer()
        let http = ScriptedHTTP([])
        let keys = try published(http)
        for _ in 0..<5 {
            await #expect(throws: KeysUnavailable.self) { try await keys.verify(try issuer.token()) }
        }
        #expect(http.requests.count == 1)
        clock.advance(by: .seconds(30))
        http.add(answer(issuer.document()))
        _ = try await keys.verify(try issuer.token())
    }

    @Test("a token of another key under the same name, and one that was altered, are refused")
    func signature() async throws {
        let (issuer, forger) = (try TestIssuer(), try TestIssuer())
        let keys = IssuerKeys.fixed([issuer.jwk])
        await #expect(throws: JWTFault.signature) { try await keys.verify(try forger.token()) }
        let parts = try issuer.token().split(separator: ".")
        let other = try issuer.token(["sub": "else"]).split(separator: ".")
        await #expect(throws: JWTFault.signature) { try await keys.verify("\(parts[0]).\(other[1]).\(parts[2])") }
        await #expect(throws: JWTFault.malformed) { try await keys.verify("not a token") }
    }

    @Test("a key of another kind is no key for the token's algorithm")
    func algorithm() async throws {
        let (ec, rsa) = (try TestIssuer("one", .ec(.p256)), try TestIssuer("one", .rsa(bits: 2048)))
        let keys = IssuerKeys.fixed([rsa.jwk])
        await #expect(throws: JWTFault.algorithm) { try await keys.verify(try ec.token()) }
    }
}

/// A server that answers with a document while its gate is open, and lets requests wait while it is not.
private final class GatedHTTP: OutboundHTTP {
    let document: Mutex<[UInt8]>
    private let requests = Mutex(0)
    private let gate = Gate()

    init(document: [UInt8]) {
        self.document = Mutex(document)
    }

    var count: Int { requests.withLock { $0 } }

    func open() async { await gate.set(true) }
    func close() async { await gate.set(false) }

    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        requests.withLock { $0 += 1 }
        await gate.pass()
        // As a real client does when its task is cancelled.
        if Task.isCancelled { throw OutboundFailure(.cancelled, "x") }
        return OutboundResponse(status: 200, body: document.withLock { $0 })
    }

    private actor Gate {
        private var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func set(_ isOpen: Bool) {
            self.isOpen = isOpen
            guard isOpen else { return }
            for continuation in waiting { continuation.resume() }
            waiting = []
        }

        func pass() async {
            guard !isOpen else { return }
            await withCheckedContinuation { waiting.append($0) }
        }
    }
}
