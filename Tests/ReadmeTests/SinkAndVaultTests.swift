import AssayCore
import AssayKit
import AssayTesting
import Foundation
import Synchronization
import Testing

@Suite("The sink and the vault of the documentation keep their promises")
struct SinkAndVaultTests {
    @Test("A sink as short as the article's")
    func sink() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lines-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let suite = DecisionSinkSuite { host in
            let path = folder.appendingPathComponent("\(UUID())")
            let sink = try await LineSink.open(path.path, host: host)
            return DecisionSinkSuite.Subject(
                sink,
                written: {
                    try Data(contentsOf: path).split(separator: UInt8(ascii: "\n"))
                        .compactMap { DecisionSinkSuite.Written(line: Array($0)) }
                })
        }
        #expect(await suite.run() == [])
    }

    @Test("A vault as short as the article's")
    func vault() async throws {
        let suite = KeyVaultSuite { host in
            let server = ObjectServer()
            let reached = StorageHost(http: server, logger: host.logger)
            let url = "https://objects.example.com/keys"
            return KeyVaultSuite.Subject(
                try await ObjectVault.open(url, host: reached),
                reopen: { try await ObjectVault.open(url, host: reached) }, fails: { server.isFailing = $0 })
        }
        #expect(await suite.run() == [])
    }
}

/// A server of objects with conditional requests (RFC 9110, section 13), of which it has one.
private final class ObjectServer: OutboundHTTP {
    private struct State {
        var object: (bytes: [UInt8], tag: Int)?
        var isFailing = false
    }

    private let state = Mutex(State())

    var isFailing: Bool {
        get { state.withLock { $0.isFailing } }
        set { state.withLock { $0.isFailing = newValue } }
    }

    func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
        await Task.yield()
        return state.withLock { state in
            guard !state.isFailing else { return OutboundResponse(status: 503) }
            let tag = state.object.map { "\"\($0.tag)\"" }
            if request.method == .put {
                let isNew = request.header("If-None-Match") != nil && tag == nil
                guard isNew || tag != nil && request.header("If-Match") == tag else {
                    return OutboundResponse(status: 412)
                }
                state.object = (request.body, (state.object?.tag ?? 0) + 1)
            }
            guard let object = state.object else { return OutboundResponse(status: 404) }
            return OutboundResponse(
                status: 200, headers: [OutboundHeader("ETag", "\"\(object.tag)\"")],
                body: request.method == .get ? object.bytes : [])
        }
    }
}
