import AssayCore
import Testing

@testable import AssayClient

@Suite("Servers that demand what they like")
struct DemandingServerTests {
    @Test("whatever servers answer, a request is sent five times at most, each with a new proof", arguments: 0..<40)
    func hostile(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let scene = try OAuthScene(
            proofs: [.possessionAndDPoP, .possession, .combined].randomElement(using: &random) ?? .combined)
        _ = try await scene.attestation()
        for _ in 0..<12 {
            let answer = Self.answer(&random)
            scene.world.next("/token") { _ in answer }
        }
        let before = scene.world.requests.count
        scene.world.clock.advance(by: .minutes(2))
        _ = try? await scene.request()
        let sent = scene.world.requests.dropFirst(before).filter { $0.url == OAuthWorld.token }
        #expect((1...5).contains(sent.count))
        let proofs = sent.flatMap { request in
            request.headers.filter { $0.name.hasSuffix("PoP") }.map(\.value)
        }
        #expect(Set(proofs).count == proofs.count)
    }

    private static func answer(_ random: inout SeededRandom) -> ClientResponse {
        let errors = [
            "use_dpop_nonce", "use_attestation_challenge", "use_fresh_attestation", "invalid_client",
            "invalid_dpop_proof",
        ]
        let texts = ["a", "b", "c", "", " ", "\"", "\u{e9}", String(repeating: "x", count: 5000)]
        let names = ["DPoP-Nonce", "dpop-nonce", "OAuth-Client-Attestation-Challenge", "Date", "WWW-Authenticate"]
        let dates = ["Tue, 24 Nov 2026 08:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"]
        var response = ClientResponse.json(
            [400, 401].randomElement(using: &random) ?? 400,
            ["error": .string(errors.randomElement(using: &random) ?? "")])
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            response.headers.append(
                ClientHeader(
                    names.randomElement(using: &random) ?? "", (texts + dates).randomElement(using: &random) ?? ""))
        }
        return response
    }

    @Test(
        "a resource server's demand is read from its challenge in every spelling that RFC 9110 allows",
        arguments: [
            ("DPoP error=\"use_dpop_nonce\"", ServerDemand.nonce),
            ("DPoP algs=\"ES256\", error=use_dpop_nonce", .nonce),
            ("Bearer, DPoP error=\"invalid_dpop_proof\"", .time), ("DPoP error=\"invalid_token\"", nil), ("DPoP", nil),
        ] as [(String, ServerDemand?)])
    func challenges(value: String, demand: ServerDemand?) {
        let response = ClientResponse(status: 401, headers: [ClientHeader("www-authenticate", value)])
        #expect(ServerDemand(response) == demand)
        #expect(ServerDemand(ClientResponse(status: 403, headers: response.headers)) == nil)
    }

    @Test("a server's time is counted on from its last response that comes from no cache")
    func time() throws {
        let memory = ServerMemory()
        let address = try #require(ServerAddress("https://login.example.com"))
        func note(_ headers: [ClientHeader], at seconds: Int64) {
            memory.note(
                ClientResponse(status: 200, headers: headers), from: address, at: Moment(uptime: .seconds(seconds)))
        }
        func time(at seconds: Int64) -> Int64? {
            memory.unixSeconds(at: address, now: Moment(uptime: .seconds(seconds)))
        }
        #expect(time(at: 0) == nil)
        let date = ClientHeader("Date", "Thu, 01 Jan 1970 01:00:00 GMT")
        note([date, ClientHeader("Age", "0")], at: 50)
        note([ClientHeader("Date", "yesterday")], at: 50)
        #expect(time(at: 60) == nil)
        note([date], at: 100)
        #expect(time(at: 100) == 3600)
        #expect(time(at: 99) == 3600)
        #expect(time(at: 160) == 3660)
        note([ClientHeader("Date", "Thu, 01 Jan 1970 02:00:00 GMT"), ClientHeader("age", "9")], at: 160)
        #expect(time(at: 160) == 3660)
    }

    @Test("the memory of servers is bounded, and forgets the one that answered longest ago")
    func bounded() throws {
        let memory = ServerMemory()
        func address(_ number: Int) throws -> ServerAddress {
            try #require(ServerAddress("https://server-\(number).example.com/path"))
        }
        for number in 0...32 {
            memory.note(
                ClientResponse(status: 200, headers: [ClientHeader("DPoP-Nonce", "nonce-\(number)")]),
                from: try address(number), at: Moment(uptime: .zero))
        }
        #expect(memory.entry(of: try address(0)) == nil)
        #expect(memory.entry(of: try address(1))?.nonce == "nonce-1")
        #expect(memory.entry(of: try address(32))?.nonce == "nonce-32")
    }
}

/// SplitMix64: the same numbers for the same seed.
private struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
