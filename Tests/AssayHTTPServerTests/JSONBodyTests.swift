import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Testing

private let folder = "vectors/json-test-suite/test_parsing"

/// The public JSON test suite as request bodies, read where it lies; without it this test is skipped.
@Suite("JSON test suite as bodies", .timeLimit(.minutes(20)))
struct JSONBodyTests {
    @Test(
        "what is JSON reaches the kernel when it is an object, what is not is refused, and the server continues",
        .enabled(if: SharedFiles.has(folder), Comment(rawValue: SharedFiles.absence)))
    func suite() async throws {
        let handler = FakeHandler { _ in .success([:]) }
        let files = SharedFiles.list(folder, ending: ".json")
        #expect(files.count == 318)
        try await TestServer.with(handler) { port, _ in
            for file in files {
                let name = String(file.dropFirst(folder.utf8.count + 1))
                let bytes = SharedFiles.bytes(file)
                let before = handler.calls.count
                let reply = try await RawConnection.with(port: port) { connection in
                    let head = TestServer.post("/v1/projects/1/apps/2:exchangeDebugToken")
                        .replacing("Content-Length: 0", with: "Content-Length: \(bytes.count)")
                    try await connection.send(Array(head.utf8) + bytes)
                    return try await connection.reply()
                }
                let wasCalled = handler.calls.count > before
                let message = try? reply.error("message")?.string

                if bytes.count > 65_536 {
                    #expect(reply.status == 413, "\(name)")
                    #expect(!wasCalled, "\(name)")
                } else if bytes.isEmpty {
                    // No body at all is the empty message.
                    #expect(reply.status == 200, "\(name)")
                } else if let json = try? JSON.parse(bytes) {
                    #expect(!name.hasPrefix("n_"), "\(name)")
                    #expect(wasCalled == (json.members != nil), "\(name)")
                    #expect(reply.status == (wasCalled ? 200 : 400), "\(name)")
                    if wasCalled {
                        #expect(handler.calls.last?.body == json, "\(name)")
                    } else {
                        #expect(message == "The request body must be a JSON object.", "\(name)")
                    }
                } else {
                    #expect(!name.hasPrefix("y_"), "\(name)")
                    #expect(reply.status == 400, "\(name)")
                    #expect(!wasCalled, "\(name)")
                    #expect(message?.contains("(at byte ") == true, "\(name)")
                }
            }
        }
    }
}
