import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Testing

private let section = """
    tokens: {accept_development: true}
    backends:
      orders:
        original_request: x-original
        routes:
          - {path: /bank, methods: [POST], tokens: {limited_use: true}}
          - {path: /pay/*, methods: [POST], tokens: {limited_use: true}}
          - {path: /vault/**, methods: [POST], tokens: {limited_use: true}}
          - {path: /public/*, methods: [GET], tokens: {enforcement: "OFF"}}
          - {path: /*, methods: [OPTIONS], tokens: {enforcement: "OFF"}}
    """

/// Requests that some backend maps to a path whose route demands a limited-use token.
private let attacks: [String] = [
    // Letter case and slashes.
    "/BANK", "/Bank", "/bank/", "/Pay/1", "/PAY", "/pay", "/VAULT", "/Vault.JSON", "//bank", "/bank//", "/x//../bank",
    "///pay/1", "/pay//1",
    // Dot segments.
    "/./bank", "/bank/.", "/bank/./", "/x/../bank", "/x/%2e%2e/bank", "/x/.%2E/bank", "/%2e/bank", "/pay/../bank",
    "/x/..;/bank", "/x/;/../bank",
    // Escapes: twice, unfinished, of separators and of control characters.
    "/%2562ank", "/bank%252e", "/%25%36%32ank", "/bank%", "/bank%2", "/bank%zz", "/%2fbank", "/bank%2f",
    "/x%2f..%2fbank",
    "/bank%5c", "/bank\\", "/x\\..\\bank", "/x%5c..%5cbank", "/bank%00", "/bank%00.json", "/%00bank", "/bank%0a",
    "/bank%0d%0a",
    "/bank%09", "/bank%7f", "/bank%3fx", "/bank%23x", "/bank#", "/bank#/../x", "/%u0062ank", "/bank%u002e",
    // Parameters of a segment.
    "/bank;", "/bank;v=1", "/bank%3bv=1", "/pay;v=1/1", "/vault;v=1",
    // Names of files in Windows.
    "/bank.", "/bank..", "/bank%2e", "/bank./", "/pay./1", "/bank%20", "/bank%20.", "/pay%20/1", "/bank::$DATA",
    "/bank%3a%3a$DATA", "/bank::%24data", "/bank::$INDEX_ALLOCATION", "/bank:$I30:$INDEX_ALLOCATION", "/pay::$DATA/1",
    "/BANK~1", "/ban%3c", "/ban%3e%3e", "/bank%22", "/bank%7c",
    // Compatibility forms, accents, and characters that mean nothing.
    "/ban%E2%84%AA", "/%EF%BD%82ank", "/%EF%BC%8Fbank", "/x%EF%BC%8F..%EF%BC%8Fbank", "/%E2%80%A5/bank",
    "/bank%EF%BC%8E",
    "/bank%E3%80%82", "/b%C3%A4nk", "/ba%CC%88nk", "/bank%C2%AD", "/ba%E2%80%8Bnk", "/bank%C2%A0", "/%E2%80%AEknab",
    "/p%CE%B1y/1", "/vaul%EF%BD%94.json", "/bank%EF%BC%9Bx",
    // No UTF-8.
    "/%c0%ae", "/%c1%b0ay/1", "/%c1%a2ank", "/bank%c0%ae", "/bank%c0%af", "/x/%c0%ae%c0%ae/bank", "/%e0%81%a2ank",
    "/%f0%80%81%a2ank", "/bank%ff", "/bank%ed%a0%80", "/bank%c3", "/bank%80",
    // Not a path at all.
    "bank", "http://example.com/bank", "*", "",
]

@Suite("Attacks on the paths of routes")
struct PathAttackTests {
    @Test("No spelling of a path leads a session token past its route", arguments: attacks)
    func refused(_ path: String) async throws {
        let service = try VerifyService(section)
        let reply = await service.ask("orders", try await service.token(), "POST", path)
        #expect(reply.status == .permissionDenied)
        #expect(reply.reason == "backend_target_ambiguous")
        // Nor does a limited-use token pass: what it is for is not known.
        let limited = await service.ask("orders", try await service.token(limitedUse: true), "POST", path)
        #expect(limited.reason == "backend_target_ambiguous")
    }

    @Test(
        "What is plainly a route's path meets its demand",
        arguments: [
            "/bank", "/%62ank", "/bank?x=1", "/pay/", "/pay/1", "/vault", "/vault/", "/vault/1", "/vault.json",
            "/vault:open",
            "/vault(1)", "/v%61ult%2ejson", "/vault.json/1",
        ])
    func met(_ path: String) async throws {
        let service = try VerifyService(section)
        #expect(
            await service.ask("orders", try await service.token(), "POST", path).reason == "token_not_limited_use")
        #expect(
            await service.ask("orders", try await service.token(limitedUse: true), "POST", path).status == nil)
    }

    @Test(
        "Other paths are not the route's",
        arguments: ["/bank.json", "/bank/1", "/banking", "/vaults", "/vault-2", "/vault_2", "/x/vault", "/pay.json"])
    func others(_ path: String) async throws {
        let service = try VerifyService(section)
        #expect(await service.ask("orders", try await service.token(), "POST", path).status == nil)
    }

    @Test(
        "Where no route of the method demands more, other spellings have the backend's own demand",
        arguments: ["/caf%C3%A9", "/ban%E2%84%AA", "/bank.", "/a::b", "/public/%E2%80%A5/x", "/public/x."])
    func own(_ path: String) async throws {
        let service = try VerifyService(section)
        #expect(await service.ask("orders", try await service.token(), "GET", path).status == nil)
        // What a route lets go is not given.
        #expect(await service.ask("orders", nil, "GET", path).reason == "token_missing")
    }

    @Test(
        "A route that is enforced where its backend is not is not got round by other spellings",
        arguments: ["/caf%C3%A9", "/ban%E2%84%AA", "/bank.", "/a::b"])
    func enforcedRoute(_ path: String) async throws {
        let service = try VerifyService(
            """
            tokens: {accept_development: true, enforcement: "OFF"}
            backends:
              orders:
                original_request: x-original
                routes: [{path: /bank, tokens: {enforcement: ENFORCED}}]
            """)
        #expect(await service.ask("orders", nil, "GET", "/x").status == nil)
        #expect(await service.ask("orders", nil, "GET", "/bank").reason == "token_missing")
        #expect(await service.ask("orders", nil, "GET", path).reason == "backend_target_ambiguous")
        #expect(
            await service.ask("orders", try await service.token(), "GET", path).reason == "backend_target_ambiguous")
    }

    @Test("A route for all paths counts for every spelling", arguments: ["/caf%C3%A9", "/bank.", "/a::b"])
    func all(_ path: String) async throws {
        let service = try VerifyService(section)
        #expect(await service.ask("orders", nil, "OPTIONS", path).status == nil)
        #expect(await service.ask("orders", nil, "GET", "/public/x").status == nil)
    }
}
