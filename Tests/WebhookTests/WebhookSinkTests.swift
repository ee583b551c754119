import AssayCore
import AssayKit
import AssayTesting
import Logging
import Synchronization
import Testing

@testable import AssayWebhook

@Suite("The sink that sends decisions to a server")
struct WebhookSinkTests {
    private static let location = "https://logs.example.com/assay#bearer=env:LOG_TOKEN"
    private let server = SimulatedLogServer()

    private func host(secret: String? = "a-secret-of-the-log-server") -> StorageHost {
        StorageHost(
            secrets: SecretSource { _ in secret.map { Array($0.utf8) } }, http: server,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("Requests have the secret, lines of JSON, and no more than half a megabyte unless a line is longer")
    func requests() async throws {
        let sink = try await WebhookSink.open(Self.location, host: host())
        try await sink.record((0..<200).map { _ in entry(String(repeating: "x", count: 9000)) })
        #expect(server.requests.count == 4)
        for request in server.requests {
            #expect(request.header("authorization") == "Bearer a-secret-of-the-log-server")
            #expect(request.header("content-type") == "application/x-ndjson")
            #expect(!"\(request.url)".contains("LOG_TOKEN"))
            #expect(request.body.count <= WebhookSink.bodyLimit + 1)
            #expect(request.body.last == UInt8(ascii: "\n"))
        }
        #expect(server.written.count == 200)
    }

    @Test(
        "What the server never takes is given up, and all else is tried again",
        arguments: [400, 413, 415, 422, 401, 404, 500, 503])
    func statuses(_ status: Int) async throws {
        server.mood = .failing(status)
        let sink = try await WebhookSink.open(Self.location, host: host())
        let error = await #expect(throws: DecisionSinkError.self) { try await sink.record([entry("a")]) }
        #expect(error?.isFinal == [400, 413, 415, 422].contains(status))
    }

    @Test(
        "A secret that is missing or cannot be sent is an error when it is opened",
        arguments: [nil, "", "two words", "a\nb", "ü"])
    func secrets(_ secret: String?) async {
        let error = await #expect(throws: DecisionSinkError.self) {
            try await WebhookSink.open(Self.location, host: host(secret: secret))
        }
        if let secret, !secret.isEmpty { #expect(error?.message.contains(secret) == false) }
    }

    private func entry(_ text: String) -> DecisionEntry {
        let line = JSON.object([JSONMember("decision", "d"), JSONMember("detail", .string(text))]).encoded
        let record = DecisionRecord(
            decision: DecisionID(text: "d"), time: Instant(seconds: 1_800_000_000), duration: .milliseconds(1),
            method: "exchangeDebugToken", resource: "projects/1/apps/a", provider: "debug", outcome: .answered,
            detail: text, facts: [], peer: nil)
        return DecisionEntry(.decision(record), line: line)
    }
}
