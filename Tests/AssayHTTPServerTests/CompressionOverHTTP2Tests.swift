import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Testing

@Suite("Compressed replies over HTTP/2", .timeLimit(.minutes(20)))
struct CompressionOverHTTP2Tests {
    private static let keys: JSON = ["keys": .array((0..<60).map { ["kid": .string("key-\($0)"), "kty": "RSA"] })]

    @Test("it is the same over HTTP/2")
    func overHTTP2() async throws {
        let identity = try TestIdentity()
        let files = try IdentityFiles(identity)
        let handler = FakeHandler { _ in .success(Self.keys) }
        try await TestServer.with(handler, certificate: files.open()) { port, _ in
            try await StreamClient.with(port: port, identity: identity) { client in
                try await client.get(1, "/v1/jwks", [("accept-encoding", "gzip, deflate, br")])
                let reply = try await client.reply(1)
                #expect(reply["content-encoding"] == "gzip")
                #expect(try JSON.parse(reply.decompressed) == Self.keys)
                try await client.get(3, "/v1/jwks", [("if-none-match", try #require(reply["etag"]))])
                #expect(try await client.reply(3).status == 304)
            }
        }
    }
}
