import AssayCore
import AssayHosting
import AssayState
import AssayTesting
import Logging
import Synchronization
import Testing

@testable import AssayWebhook

@Suite("The sink that sends decisions to a server")
struct WebhookSinkTests {
    private static let location = "https://logs.example.com/assay#bearer=env:LOG_TOKEN"
    private let server = LogServer()

    private func host(secret: String? = "a-secret-of-the-log-server") -> StorageHost {
        StorageHost(
            secrets: SecretSource { _ in secret.map { Array($0.utf8) } }, http: server,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("It keeps the promises of sinks")
    func suite() async {
        let server = server
        let suite = DecisionSinkSuite(http: server) { host in
            server.reset()
            var host = host
            host.secrets = SecretSource { _ in Array("a-secret-of-the-log-server".utf8) }
            return DecisionSinkSuite.Subject(
                try await WebhookSink.open(Self.location, host: host), written: { server.written },
                fails: { server.mood = $0 ? .failing(503) : .taking },
                isSlow: { server.mood = $0 ? .slow : .taking }, secrets: ["a-secret-of-the-log-server"])
        }
        let broken = await suite.run()
        #expect(broken.isEmpty, "\(broken)")
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

/// A server that takes lines, fails, or does not answer.
private final class LogServer: OutboundHTTP {
    enum Mood: Sendable {
        case taking
        case failing(Int)
        case slow
    }

    private let state = Mutex<(mood: Mood, requests: [OutboundRequest], written: [DecisionSinkSuite.Written])>(
        (.taking, [], []))

    var mood: Mood {
        get { state.withLock { $0.mood } }
        set { state.withLock { $0.mood = newValue } }
    }

    var requests: [OutboundRequest] { state.withLock { $0.requests } }
    var written: [DecisionSinkSuite.Written] { state.withLock { $0.written } }

    func reset() { state.withLock { $0 = (.taking, [], []) } }

    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        switch mood {
        case .failing(let status): return OutboundResponse(status: status)
        case .slow:
            try? await Task.sleep(for: .seconds(600))
            throw OutboundFailure(.cancelled, "the call was cancelled")
        case .taking:
            let lines = request.body.split(separator: UInt8(ascii: "\n"))
            state.withLock { state in
                state.requests.append(request)
                state.written += lines.compactMap { DecisionSinkSuite.Written(line: Array($0)) }
            }
            return OutboundResponse(status: 204)
        }
    }
}
